# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/locale"
require_relative "../launch/launch_error"
require_relative "../launch/upgrade"
require_relative "command_error"
require_relative "subcommands"

module Carat
  module CLI
    # The command `carat`: finds the subcommand, runs it, and turns errors into exit statuses.
    class Program
      # EX_CONFIG of sysexits.h.
      BAD_CONFIG = 78
      FAILURE = 1
      # The name of standard output in the message of an error of Ruby.
      OUTPUT = "<STDOUT>"
      private_constant :FAILURE, :OUTPUT

      # `argv` are the words after `carat`, `env` is ENV or a Hash; `options` go to the subcommand.
      def initialize(argv, env: ENV, out: $stdout, err: $stderr, **options)
        Config::Locale.settle
        @argv = argv.map { |word| Config::Locale.text(word) }
        @env = env
        @out = out
        @err = err
        @options = options
      end

      # Returns the exit status: 0, 78 for a bad configuration, 1 for another failure. Does not return when the server
      # starts.
      def run
        name, words = Subcommands.split(@argv)
        Subcommands.fetch(name).new(words, env: @env, out: @out, **@options).call.tap { @out.flush }
      rescue Config::ConfigError => e
        fail_with(BAD_CONFIG, e)
      rescue Launch::LaunchError, CommandError => e
        fail_with(FAILURE, e)
      rescue SystemCallError, IOError => e
        # An error about another file than standard output is raised again. For a full disk, only the message names the
      # file.
        raise unless e.is_a?(IOError) || e.message.include?(OUTPUT)

        fail_with(FAILURE, CommandError.new("carat: standard output: #{e.message.sub(/ @ .*/, "")}"))
      end

      private

      def fail_with(status, error)
        Launch::Upgrade.under_way(@env)&.failed(error.message)
        @err.puts error.message
        status
      end
    end
  end
end
