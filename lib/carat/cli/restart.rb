# frozen_string_literal: true

require_relative "../log/counted"
require_relative "control_command"
require_relative "control_error"
require_relative "printable"

module Carat
  module CLI
    # `carat restart`.
    class Restart
      include ControlCommand

      # What follows `Usage: carat` in the help.
      USAGE = "restart [--rollback] [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces the code of a running server, without losing a request."

      PAUSE_SECONDS = 0.1
      private_constant :PAUSE_SECONDS

      # Returns when the last worker with the old code has ended. Raises ConfigError, and ControlError when the old code
      # continues to serve.
      def run
        refuse_arguments
        number = ask(:post, @rollback ? "/rollback" : "/restart").fetch("number")
        report = follow(number)
        cause = report["cause"]
        raise ControlError, "carat: not restarted: #{Printable.text(cause.to_s)}" if report["state"] == "failed"

        say("carat: #{@rollback ? "rolled back" : "restarted"}: generation #{report.fetch("generation")} serves with " \
            "#{Log::Counted.of(report.fetch("workers"), "worker")}")
      end

      private

      def more_flags(parser)
        parser.on("--rollback", "Go back to the previous code") { @rollback = true }
      end

      # Every step of the server has its time limit, and so has every question here.
      def follow(number)
        loop do
          report = ask(:get, "/restart?number=#{number}")
          return report if %w[done failed].include?(report["state"])

          sleep(PAUSE_SECONDS)
        end
      end
    end
  end
end
