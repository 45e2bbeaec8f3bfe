# frozen_string_literal: true

require_relative "../parts"
require_relative "config_error"
require_relative "options"
require_relative "sources/spelling"

module Carat
  module Config
    # Errors in options whose values are valid one by one: the options contradict each other, this Ruby cannot do what
    # they ask for, or the application's directory lacks what they name.
    class Combinations
      COMPILERS = { "yjit" => "YJIT", "zjit" => "ZJIT" }.freeze
      # The environments that have a meaning by convention, besides those that Rails has a file for.
      ENVIRONMENTS = %w[development test production staging].freeze
      RAILS = "config/environments/*.rb"
      private_constant :COMPILERS, :ENVIRONMENTS, :RAILS

      # `configuration` is a Configuration; `processes` are the Processes of all environments.
      def initialize(configuration, processes)
        @configuration = configuration
        @processes = processes
      end

      # Raises ConfigError for the first error.
      def check
        check_compiler
        @configuration.check_directory(:restart_file)
        Parts.each { |part| part.check(@configuration) }
        @processes.each { |declaration| check_environments(declaration) }
      end

      private

      def check_compiler
        name = COMPILERS[@configuration[:jit]] or return
        compiler = RubyVM.const_get(name) if RubyVM.const_defined?(name)
        return if compiler && (compiler.enabled? || compiler.respond_to?(:enable))

        @configuration.refuse(:jit, "Ruby #{RUBY_VERSION} cannot enable #{name}: choose auto or off, or another Ruby")
      end

      # Raises ConfigError when a process is declared for an environment that nothing else knows, such as an
      # abbreviation: it would never run.
      def check_environments(declaration)
        rails = Dir.glob(RAILS).map { |path| File.basename(path, ".rb") }
        known = [*ENVIRONMENTS, *rails, @configuration[:environment]].uniq
        wrong = [*declaration.only].find do |name|
          !known.include?(name) && (rails.any? || known.any? { |other| other.start_with?(name) })
        end
        return unless wrong

        raise ConfigError, "#{declaration.place}: only: there is no environment #{wrong}#{Spelling.hint(wrong, known)}"
      end
    end
  end
end
