# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/configuration"
require_relative "../config/options"
require_relative "../launch/launch_error"
require_relative "../launch/launcher"
require_relative "command_line"
require_relative "control_error"
require_relative "doctor"
require_relative "help"

module Carat
  module CLI
    # The command `carat`.
    class Program
      SUCCESS = 0
      # EX_CONFIG of sysexits.h.
      BAD_CONFIG = 78
      FAILURE = 1

      # `argv` are the words after `carat`, `env` is ENV or a Hash; `launcher` answers `new(configuration, argv)`.
      def initialize(argv, env: ENV, out: $stdout, err: $stderr, launcher: Launch::Launcher)
        @argv = argv
        @env = env
        @out = out
        @err = err
        @launcher = launcher
      end

      # Does what the words ask for and returns the exit status: 0, 78 for a bad configuration, 1 for another failure.
      # Does not return when the server starts.
      def run
        public_send(line.command)
      rescue Config::ConfigError => e
        fail_with(BAD_CONFIG, e)
      rescue Launch::LaunchError, ControlError => e
        fail_with(FAILURE, e)
      end

      # Starts the server in place of this process; raises ConfigError and LaunchError.
      def serve
        @launcher.new(configuration, @argv).launch
        SUCCESS
      end

      # Prints one line when the configuration is right; raises ConfigError.
      def check
        say("carat: the configuration is valid: #{summary(configuration)}")
      end

      # Prints what the Doctor finds, a line each, and fails when there is a problem; raises ConfigError.
      def doctor
        doctor = Doctor.new(configuration)
        say(Doctor::Finding.ok("configuration", summary(configuration)), *doctor.findings)
        doctor.healthy? ? SUCCESS : FAILURE
      end

      # Prints what the processes of a running server weigh; raises ConfigError and ControlError.
      def memory
        require_relative "memory_command"
        say(MemoryCommand.new(line, @env))
      end

      def help
        return say(Help.new) unless line.topic == :memory

        require_relative "memory_help"
        say(MemoryHelp.new)
      end

      def version
        say("carat #{VERSION}")
      end

      private

      def line
        @line ||= CommandLine.new(@argv)
      end

      def configuration
        @configuration ||= Config::Configuration.from_argv(@argv, env: @env)
      end

      def summary(settings)
        processes = [:workers, settings[:fibers] ? :fibers : :threads].map do |name|
          "#{name} #{Config::Options.fetch(name).text(settings[name])}"
        end
        [settings[:rackup], settings.config_path, *processes, *settings[:bind]].compact.join(", ")
      end

      def say(*lines)
        lines.each { |line| @out.puts line.to_s }
        SUCCESS
      end

      def fail_with(status, error)
        @err.puts error.message
        status
      end
    end
  end
end
