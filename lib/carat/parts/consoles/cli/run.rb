# frozen_string_literal: true

require "shellwords"
require_relative "../../../config/config_error"
require_relative "../../../cli/control/control_command"
require_relative "forked_command"

module Carat
  module CLI
    # `carat run`.
    class Run
      include ControlCommand
      include ForkedCommand

      # The words after `Usage: carat` in the help.
      USAGE = "run [--env NAME[=VALUE]]... -- COMMAND"

      # The sentence in the list of subcommands.
      SUMMARY = "Runs a command with the application that a server has loaded."

      # Runs the command on the standard streams, and returns its exit status. Raises ConfigError and ControlError.
      def run
        raise Config::ConfigError, "run: needs a command, such as carat run -- bin/rails about" if @arguments.empty?

        fork_command("run", @arguments, instead: Shellwords.join(@arguments))
      end

      private

      # Reads only the flags before the first argument: what follows it belongs to the command.
      def read_words(words)
        @flags.parse_leading(words)
      end
    end
  end
end
