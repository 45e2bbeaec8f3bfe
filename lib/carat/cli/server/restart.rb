# frozen_string_literal: true

require_relative "../../log/counted"
require_relative "../control/control_command"
require_relative "../command_error"
require_relative "../printable"

module Carat
  module CLI
    # `carat restart`.
    class Restart
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "restart [--rollback]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces the code of a running server, without losing a request."

      # Returns when the last worker with the old code has ended. Raises ConfigError; raises ControlError when the
      # restart fails and the old code continues to serve.
      def run
        refuse_arguments
        number = ask(:post, @rollback ? "/rollback" : "/restart").fetch("number")
        say(result(follow("/restart?number=#{number}", "done", "failed")))
      end

      private

      def more_flags(parser)
        parser.on("--rollback", "Go back to the previous code") { @rollback = true }
      end

      def result(report)
        cause = Printable.text(report["cause"].to_s)
        raise ControlError, "carat: not restarted: #{cause}#{wait(report)}" if report["state"] == "failed"

        "carat: #{@rollback ? "rolled back" : "restarted"}: generation #{report.fetch("generation")} " \
          "serves with #{Log::Counted.of(report.fetch("workers"), "worker")}#{wait(report)}"
      end

      def wait(report)
        seconds = report["waited"]
        "; requests waited for #{seconds.round(1)} s, while no worker ran" if seconds
      end
    end
  end
end
