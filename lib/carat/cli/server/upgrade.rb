# frozen_string_literal: true

require_relative "../control/control_command"

module Carat
  module CLI
    # `carat upgrade`.
    class Upgrade
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "upgrade [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces a running server and its code; no client is refused."

      # The deadline of the request in seconds, longer than any upgrade: the server has its own limit for an upgrade.
      LIMIT = 24 * 60 * 60
      private_constant :LIMIT

      # Returns when the new edge accepts clients. Raises ConfigError; raises ControlError when the old edge continues
      # to serve.
      def run
        refuse_arguments
        say("carat: upgraded: process #{ask(:post, "/upgrade", deadline: LIMIT).fetch("pid")} serves")
      end
    end
  end
end
