# frozen_string_literal: true

require_relative "command_line"
require_relative "configuration"
require_relative "help"
require_relative "launcher"

module Carat
  # The command `carat`.
  class CLI
    # EX_CONFIG of sysexits.h.
    BAD_CONFIG = 78
    FAILURE = 1

    # `argv` are the words after `carat`, `env` is ENV or a Hash; `launcher` answers `new(configuration, argv)`.
    def initialize(argv, env: ENV, out: $stdout, err: $stderr, launcher: Launcher)
      @argv = argv
      @env = env
      @out = out
      @err = err
      @launcher = launcher
    end

    # Does what the words ask for and returns the exit status: 0, 78 for a bad configuration, 1 for another failure.
    # Does not return when the server starts.
    def run
      command = CommandLine.new(@argv).command
      public_send(command)
      0
    rescue ConfigError => e
      fail_with(BAD_CONFIG, e)
    rescue LaunchError => e
      fail_with(FAILURE, e)
    end

    # Starts the server in place of this process; raises ConfigError and LaunchError.
    def serve
      @launcher.new(configuration, @argv).launch
    end

    # Prints one line when the configuration is right; raises ConfigError.
    def check
      @out.puts "carat: the configuration is valid: #{summary(configuration)}"
    end

    def help
      @out.puts Help.new.to_s
    end

    def version
      @out.puts "carat #{VERSION}"
    end

    private

    def configuration
      @configuration ||= Configuration.from_argv(@argv, env: @env)
    end

    def summary(settings)
      processes = %i[workers threads].map { |name| "#{name} #{settings[name]}" }
      [settings[:rackup], settings.config_path, *processes, *settings[:bind]].compact.join(", ")
    end

    def fail_with(status, error)
      @err.puts error.message
      status
    end
  end
end
