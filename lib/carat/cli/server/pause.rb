# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/type"
require_relative "../../log/counted"
require_relative "../control/control_command"

module Carat
  module CLI
    # `carat pause`.
    class Pause
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "pause [TIME] [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Holds requests in the queue for TIME, 30s by default."
      DEFAULT = "30s"
      LIMIT_SECONDS = 600
      private_constant :DEFAULT, :LIMIT_SECONDS

      # Prints how long requests are held. Raises ConfigError and ControlError.
      def run
        seconds = argument("TIME", Config::Type.build(:seconds), default: DEFAULT)
        raise Config::ConfigError, "pause: at most #{LIMIT_SECONDS} s" if seconds > LIMIT_SECONDS

        reply = ask(:post, "/pause?seconds=#{seconds}")
        running = Log::Counted.of(reply.fetch("running"), "request")
        say("carat: paused for #{reply.fetch("seconds")} s with #{running} running; " \
            "up to #{reply.fetch("queue_limit")} may wait")
      end
    end
  end
end
