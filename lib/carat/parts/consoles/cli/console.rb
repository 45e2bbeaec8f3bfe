# frozen_string_literal: true

require_relative "../../../cli/control/control_command"
require_relative "forked_command"

module Carat
  module CLI
    # `carat console`.
    class Console
      include ControlCommand
      include ForkedCommand

      # The words after `Usage: carat` in the help.
      USAGE = "console [--sandbox] [--env NAME[=VALUE]]..."

      # The sentence in the list of subcommands.
      SUMMARY = "Opens a console of the application that a server has loaded."

      # Runs the console on this terminal, and returns its exit status. Raises ConfigError and ControlError.
      def run
        refuse_arguments
        fork_command("console", @sandbox ? ["--sandbox"] : [], instead: "bin/rails console")
      end

      private

      def more_flags(parser)
        super
        parser.on("--sandbox", "Roll the database back at the end") { @sandbox = true }
      end
    end
  end
end
