# frozen_string_literal: true

require_relative "../../log/counted"
require_relative "../control/control_command"

module Carat
  module CLI
    # `carat resume`.
    class Resume
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "resume [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Ends a pause."

      # Prints how many requests waited. Raises ConfigError and ControlError.
      def run
        refuse_arguments
        reply = ask(:post, "/resume")
        say("carat: resumed with #{Log::Counted.of(reply.fetch("waiting"), "waiting request")}")
      end
    end
  end
end
