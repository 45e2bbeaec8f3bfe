# frozen_string_literal: true

require_relative "../../config/type"
require_relative "../../log/counted"
require_relative "../control/control_command"

module Carat
  module CLI
    # `carat kill-worker`.
    class KillWorker
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "kill-worker NUMBER [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Kills the worker with this number; another one takes its place."
      NUMBER = Config::Type.build(:integer, 1..4_294_967_295)
      private_constant :NUMBER

      # Prints what was killed. Raises ConfigError and ControlError.
      def run
        number = argument("NUMBER", NUMBER)
        reply = ask(:post, "/kill-worker?number=#{number}")
        say("carat: killed worker #{number} with process id #{reply.fetch("pid")}; it had " \
            "#{Log::Counted.of(reply.fetch("running"), "request")}")
      end
    end
  end
end
