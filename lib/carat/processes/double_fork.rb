# frozen_string_literal: true

require_relative "../native"

module Carat
  module Processes
    # Forks a process that is not this one's child: a process in between forks it and ends, so that the kernel gives it
    # to the nearest subreaper, the edge, which then sees it end.
    class DoubleFork
      # The process in between could not fork.
      class ForkFailed < StandardError; end

      # `parent` is the process id of the subreaper.
      def initialize(parent)
        @parent = parent
      end

      # Returns true in the new process; false in this one, when that has its new parent. Raises ForkFailed and
      # SystemCallError.
      def fork
        gate, opener = IO.pipe
        between = Process.fork or return fork_again(gate, opener)
        gate.close
        _, status = Process.wait2(between)
        raise ForkFailed, "the worker cannot be forked (#{status})" unless status.success?

        false
      ensure
        opener&.close
      end

      private

      # Ends without the at_exit handlers of the application: they are the mold's and the worker's.
      def fork_again(gate, opener)
        exit!(0) if Process.fork
        opener.close
        settle(gate)
        true
      rescue Exception # rubocop:disable Lint/RescueException -- what is left of the mold's stack may not go on
        exit!(1)
      end

      # The gate opens when the process in between has been waited for, so that the parent's death can be watched.
      def settle(gate)
        gate.read
        gate.close
        Native.die_with_parent
        exit!(1) unless Process.ppid == @parent
      end
    end
  end
end
