# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/invalid_value"
require_relative "../../config/type/number/whole_number"
require_relative "../../log/counted"
require_relative "canary_report"
require_relative "../control/control_command"
require_relative "../control/control_error"
require_relative "../printable"

module Carat
  module CLI
    # `carat restart`.
    class Restart
      include ControlCommand

      # What follows `Usage: carat` in the help.
      USAGE = "restart [--canary PERCENT | --go | --rollback]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces the code of a running server, without losing a request."

      PERCENT = Config::Type::WholeNumber.new(0..99)
      private_constant :PERCENT

      # Returns when the last worker with the old code has ended, or when a canary waits. Raises ConfigError, and
      # ControlError when the old code continues to serve.
      def run
        refuse_arguments
        refuse_several
        asked = ask(:post, target)
        say(*CanaryReport.new(asked["canary"]).lines) if asked["canary"]
        say(result(follow("/restart?number=#{asked.fetch("number")}", "done", "failed", "canary")))
      end

      private

      def more_flags(parser)
        parser.on("--canary PERCENT", "Give the new code this share, and wait") do |text|
          @canary = Config::InvalidValue.at("--canary") { PERCENT.parse(text) }
        end
        parser.on("--go", "Replace all workers after a canary") { @go = true }
        parser.on("--rollback", "Go back to the previous code") { @rollback = true }
      end

      def refuse_several
        return unless [@canary, @go, @rollback].count(&:itself) > 1

        raise Config::ConfigError, "restart: --canary, --go, and --rollback exclude one another"
      end

      def target
        return "/rollback" if @rollback
        return "/go" if @go

        @canary ? "/restart?canary=#{@canary}" : "/restart"
      end

      def result(report)
        case report["state"]
        when "failed" then raise ControlError, "carat: not restarted: #{Printable.text(report["cause"].to_s)}"
        when "canary"
          canary = CanaryReport.new(report.fetch("canary"))
          "carat: canary: #{canary.share}; #{canary.decider}"
        else
          "carat: #{@rollback ? "rolled back" : "restarted"}: generation #{report.fetch("generation")} " \
          "serves with #{Log::Counted.of(report.fetch("workers"), "worker")}"
        end
      end
    end
  end
end
