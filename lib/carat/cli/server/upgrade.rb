# frozen_string_literal: true

require_relative "../control/control_command"
require_relative "../control/control_error"
require_relative "../printable"

module Carat
  module CLI
    # `carat upgrade`.
    class Upgrade
      include ControlCommand

      # What follows `Usage: carat` in the help.
      USAGE = "upgrade [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces a running server and its code; no client is refused."

      # Returns when the new edge accepts the clients. Raises ConfigError, and ControlError when the old one goes on.
      def run
        refuse_arguments
        report = follow("/upgrade?number=#{ask(:post, "/upgrade").fetch("number")}", "done", "failed")
        cause = report["cause"]
        raise ControlError, "carat: not upgraded: #{Printable.text(cause.to_s)}" if report["state"] == "failed"

        say("carat: upgraded: process #{report.fetch("pid")} serves")
      end
    end
  end
end
