# frozen_string_literal: true

module Carat
  module Processes
    # Runs the command of a console: in this process with the loaded application if possible, otherwise as another
    # program.
    class Command
      # Commands of Rails that need another environment or are servers themselves, and so run as another program.
      OWN_PROCESS = %w[server s test t test:all test:system new].freeze

      # Words that choose an environment, perhaps not the one of the loaded application.
      OTHER_ENVIRONMENT = /\A(?:-e|--environment)(?:=|\z)|\A(?:RAILS|RACK)_ENV=/
      VARIABLES = %w[RAILS_ENV RACK_ENV].freeze

      NOT_FOUND = 127
      NOT_EXECUTABLE = 126
      private_constant :OWN_PROCESS, :OTHER_ENVIRONMENT, :VARIABLES, :NOT_FOUND, :NOT_EXECUTABLE

      # `kind` is "console" or "run". `words` are the words of the command, or the flags of the console. `environment`
      # is a Hash of variables to set, or to remove where the value is nil.
      def initialize(kind, words, environment)
        @kind = kind
        @words = words
        @environment = environment
      end

      # Runs the command. If it uses the loaded application, yields a Proc that runs it, and that the block must call.
      def run
        runner = @kind == "console" ? :run_console : runner_of_loaded
        ENV.update(@environment)
        return execute unless runner

        yield -> { send(runner) }
      end

      private

      # Returns the method that runs the command in this process, or nil.
      def runner_of_loaded
        program, first, = @words
        return if other_environment?

        case program
        when "rails", %r{(?:\A|/)bin/rails\z} then :run_rails if rails? && !OWN_PROCESS.include?(first)
        when "rake", %r{(?:\A|/)bin/rake\z} then :run_rake if rake?
        when "ruby" then :run_file if first && !first.start_with?("-")
        end
      end

      def other_environment?
        VARIABLES.any? { |name| @environment.key?(name) && @environment[name] != ENV[name] } ||
          @words.any? { |word| OTHER_ENVIRONMENT.match?(word) }
      end

      def rails?
        defined?(::Rails.application) && ::Rails.application&.initialized?
      end

      def rake?
        require "rake"
      rescue LoadError
        false
      else
        true
      end

      def run_console
        return start_rails("console", *@words) if rails?

        abort("carat: --sandbox needs Rails") if @words.any?
        require "irb"
        ARGV.clear
        ::IRB.start
      rescue LoadError => e
        raise unless e.path == "irb"

        abort("carat: no console: the gem irb is not in the bundle")
      end

      def run_rails
        start_rails(*@words.drop(1))
      end

      # Runs a command of Rails, as `bin/rails` does once it has loaded the application.
      def start_rails(*arguments)
        application = ::Rails.root.join("config/application.rb")
        Object.const_set(:APP_PATH, application.to_s) if application.file? && !defined?(::APP_PATH)
        ARGV.replace(arguments)
        load "rails/commands.rb"
      end

      def run_rake
        ARGV.replace(@words.drop(1))
        ::Rake.application.run
      end

      def run_file
        file, *arguments = @words.drop(1)
        abort("carat: No such file or directory - #{file}") unless File.exist?(file)
        ARGV.replace(arguments)
        $PROGRAM_NAME = file
        load(File.expand_path(file))
      end

      def execute
        program, *arguments = @words
        exec([program, program], *arguments)
      rescue SystemCallError => e
        warn("carat: #{e.message}")
        exit(e.is_a?(Errno::ENOENT) ? NOT_FOUND : NOT_EXECUTABLE)
      end
    end
  end
end
