# frozen_string_literal: true

require_relative "../../config/type"
require_relative "../control/control_command"

module Carat
  module CLI
    # `carat scale`.
    class Scale
      include ControlCommand

      # What follows `Usage: carat` in the help.
      USAGE = "scale WORKERS [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Sets how many workers a running server has: 4, 1..6, or auto."

      # Prints the new number. Raises ConfigError and ControlError.
      def run
        workers = argument("WORKERS", Config::Type.build(:workers))
        reply = ask(:post, "/scale?workers=#{workers}")
        say("carat: workers #{range(reply.fetch("workers"))}, before #{range(reply.fetch("before"))}")
      end

      private

      def range(bounds)
        min, max = bounds
        min == max ? min.to_s : "#{min}..#{max}"
      end
    end
  end
end
