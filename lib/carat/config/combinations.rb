# frozen_string_literal: true

require_relative "config_error"
require_relative "options"
require_relative "sources/spelling"

module Carat
  module Config
    # What is wrong with values that are right one by one: options that contradict each other, this Ruby, or the
    # directory of the application.
    class Combinations
      ADDRESS = %r{\A(?:tcp|tls)://(?<host>.+):(?<port>\d+)(?:\?|\z)}
      # These hosts have the port at every address of the machine, and this one at those of IPv4.
      EVERYWHERE = %w[[::] *].freeze
      EVERY_IPV4 = "0.0.0.0"
      LOOPBACK = %w[127.0.0.1 [::1]].freeze
      COMPILERS = { "yjit" => "YJIT", "zjit" => "ZJIT" }.freeze
      # Environments by convention, beside those of Rails.
      ENVIRONMENTS = %w[development test production staging].freeze
      RAILS = "config/environments/*.rb"
      # Files that may come and go, in a directory that has to be there.
      AWAITED = %i[restart_file maintenance].freeze
      private_constant :ADDRESS, :EVERYWHERE, :EVERY_IPV4, :LOOPBACK, :COMPILERS, :ENVIRONMENTS, :RAILS, :AWAITED

      # `configuration` is a Configuration; `processes` are the Processes of all environments.
      def initialize(configuration, processes)
        @configuration = configuration
        @processes = processes
      end

      # Raises ConfigError.
      def check
        check_concurrency
        check_metrics
        check_compiler
        AWAITED.each { |name| check_directory(name) }
        @processes.each { |declaration| check_environments(declaration) }
      end

      private

      # A flag or a variable may replace what the file says for one start.
      def check_concurrency
        return unless %i[fibers threads].all? { |name| @configuration.in_file?(name) } && @configuration[:fibers]

        refuse(:threads, "fibers takes its place, since a worker runs either: leave out one of them")
      end

      def check_metrics
        taken = endpoints(@configuration[:bind])
        endpoints(@configuration[:metrics]).each do |endpoint|
          if taken.any? { |other| same?(endpoint, other) }
            refuse(:metrics, "#{endpoint[0].inspect} is taken by bind, or named twice: choose another port")
          end
          taken << endpoint
        end
      end

      def endpoints(addresses)
        addresses.filter_map { |address| ADDRESS.match(address) }
      end

      # The kernel chooses another port for each 0.
      def same?(one, other)
        return false if one[:port] != other[:port] || one[:port].to_i.zero?

        hosts = [one[:host], other[:host]]
        hosts.uniq.one? || covers?(*hosts) || covers?(*hosts.reverse)
      end

      # Whether a listener of this host has the port at the other one, too.
      def covers?(host, other)
        case host
        when *EVERYWHERE then true
        when EVERY_IPV4 then !other.start_with?("[")
        when "localhost" then LOOPBACK.include?(other)
        else false
        end
      end

      def check_compiler
        name = COMPILERS[@configuration[:jit]] or return
        compiler = RubyVM.const_get(name) if RubyVM.const_defined?(name)
        return if compiler && (compiler.enabled? || compiler.respond_to?(:enable))

        refuse(:jit, "Ruby #{RUBY_VERSION} cannot enable #{name}: choose auto or off, or another Ruby")
      end

      # The default is an offer, also where `carat import` has written it down.
      def check_directory(name)
        return if [nil, Options.fetch(name).default].include?(@configuration[name])

        directory = File.dirname(File.expand_path(@configuration[name]))
        refuse(name, "there is no directory #{directory}") unless File.directory?(directory)
      end

      # An abbreviation, or a name that Rails has no file for, is a process that never runs.
      def check_environments(declaration)
        rails = Dir.glob(RAILS).map { |path| File.basename(path, ".rb") }
        known = [*ENVIRONMENTS, *rails, @configuration[:environment]].uniq
        wrong = [*declaration.only].find do |name|
          !known.include?(name) && (rails.any? || known.any? { |other| other.start_with?(name) })
        end
        return unless wrong

        raise ConfigError, "#{declaration.place}: only: there is no environment #{wrong}#{Spelling.hint(wrong, known)}"
      end

      def refuse(name, problem)
        raise ConfigError, "#{@configuration.place(name)}: #{problem}"
      end
    end
  end
end
