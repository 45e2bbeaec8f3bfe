# frozen_string_literal: true

require_relative "../native"

module Carat
  module Processes
    # Forks a process that becomes a child of the edge. An intermediate process forks it and exits; then the kernel
    # makes it a child of the nearest subreaper, which is the edge.
    class DoubleFork
      # Raised when the intermediate process could not fork.
      class ForkFailed < StandardError; end

      # `parent` is the process id of the subreaper, the edge.
      def initialize(parent)
        @parent = parent
      end

      # Returns true in the new process. In this process, returns false when the new one has become a child of the edge.
      # Raises ForkFailed and SystemCallError.
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

      # Forks in the intermediate process, which exits without the application's at_exit blocks: only the mold and
      # workers run them.
      def fork_again(gate, opener)
        exit!(0) if Process.fork
        opener.close
        settle(gate)
        true
      rescue Exception # rubocop:disable Lint/RescueException -- the rest of the mold's stack must not run
        exit!(1)
      end

      # Waits in the new process until the intermediate process is reaped, when the pipe is closed. From then on, the
      # edge is the parent.
      def settle(gate)
        gate.read
        gate.close
        Native.die_with_parent
        exit!(1) unless Process.ppid == @parent
      end
    end
  end
end
