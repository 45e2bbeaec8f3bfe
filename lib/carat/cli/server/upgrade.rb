# frozen_string_literal: true

require_relative "../control/control_command"

module Carat
  module CLI
    # `carat upgrade`.
    class Upgrade
      include ControlCommand

      # What follows `Usage: carat` in the help.
      USAGE = "upgrade [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces a running server and its code; no client is refused."

      # More seconds than an upgrade takes: the server has a limit of its own.
      LIMIT = 24 * 60 * 60
      private_constant :LIMIT

      # Returns when the new edge accepts the clients. Raises ConfigError, and ControlError when the old one goes on.
      def run
        refuse_arguments
        say("carat: upgraded: process #{ask(:post, "/upgrade", deadline: LIMIT).fetch("pid")} serves")
      end
    end
  end
end
