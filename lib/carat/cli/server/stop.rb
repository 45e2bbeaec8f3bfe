# frozen_string_literal: true

require_relative "../control/control_command"
require_relative "../command_error"

module Carat
  module CLI
    # `carat stop`.
    class Stop
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "stop [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Stops a running server when its requests are finished."

      # The seconds for which the command waits beyond the time limit that the server has reported.
      GRACE_SECONDS = 10
      PAUSE_SECONDS = 0.05
      private_constant :GRACE_SECONDS, :PAUSE_SECONDS

      # Returns when the server has ended. Raises ConfigError and ControlError.
      def run
        refuse_arguments
        pid = ask(:get, "/status").fetch("pid")
        limit = ask(:post, "/stop").fetch("stops_within") + GRACE_SECONDS
        wait(pid, limit)
        say("carat: the server with process id #{pid} has stopped")
      end

      private

      def wait(pid, limit)
        deadline = now + limit
        sleep(PAUSE_SECONDS) while runs?(pid) && now < deadline
        raise ControlError, "carat: process #{pid} still runs after #{limit.round} s" if runs?(pid)
      end

      # Whether the process runs. A process in state Z has ended, although its parent has not reaped it.
      def runs?(pid)
        !File.read("/proc/#{pid}/stat").match?(/\) [ZX] [^)]*\z/)
      rescue SystemCallError
        false
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
