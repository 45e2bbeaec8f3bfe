# frozen_string_literal: true

require_relative "../native"

module Carat
  module Processes
    # Forks a process that becomes a child of the edge: an intermediate process forks it and exits, and the kernel
    # reparents it to the nearest subreaper, the edge.
    class DoubleFork
      # The intermediate process could not fork.
      class ForkFailed < StandardError; end

      # `parent` is the process id of the subreaper.
      def initialize(parent)
        @parent = parent
      end

      # Returns true in the new process; returns false in this one, once the new process has its new parent. Raises
      # ForkFailed and SystemCallError.
      def fork
        gate, opener = IO.pipe
        between = Process.fork or return fork_again(gate, opener)
        gate.close
        _, status = Process.wait2(between)
        raise ForkFailed, "the process cannot be forked (#{status})" unless status.success?

        false
      ensure
        opener&.close
      end

      private

      # The intermediate process exits without the application's at_exit blocks, which belong to mold and worker.
      def fork_again(gate, opener)
        exit!(0) if Process.fork
        opener.close
        settle(gate)
        true
      rescue Exception # rubocop:disable Lint/RescueException -- the rest of the mold's stack must not run
        exit!(1)
      end

      # The gate opens once the intermediate process is reaped: from then on, the parent is the edge.
      def settle(gate)
        gate.read
        gate.close
        Native.die_with_parent
        exit!(1) unless Process.ppid == @parent
      end
    end
  end
end
