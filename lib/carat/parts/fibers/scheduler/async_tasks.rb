# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # The methods that tasks of the `async` gem (2.x) call on a scheduler; Async's own has them too. Async makes the
    # fibers of its tasks, and this scheduler runs them among its others. Async is not patched, and nothing is loaded
    # before it calls.
    module AsyncTasks
      autoload :TaskTree, File.join(__dir__, "task_tree")
      autoload :TaskTimeouts, File.join(__dir__, "task_timeouts")

      # Makes this the parent of a task.
      def add_child(task)
        @tasks ||= TaskTree.new(self)
        @tasks.adopt(task)
      end

      # Runs a fiber at once: a new one, or one in `transfer`. The caller goes on when its turn comes.
      def resume(fiber)
        start(fiber)
      end

      # Waits until somebody resumes this fiber.
      def transfer
        block(nil)
      end

      # Queues a fiber. Any other object that can `transfer` is called when its turn comes.
      def push(target)
        target.is_a?(Fiber) ? super : push(new_fiber { target.transfer if target.alive? })
      end

      # Raises at once in another fiber that waits. Without a fiber it is `Kernel#raise`.
      def raise(*arguments, **options)
        fiber, *exception = arguments
        fiber.is_a?(Fiber) ? fiber.raise(*exception, **options) : super
      end

      # Raises `exception` in this fiber when the block takes longer than `seconds`. A block with a parameter gets an
      # Async::Timeout.
      def with_timeout(seconds, exception = Async::TimeoutError, message = "execution expired", &)
        TaskTimeouts.new(self, exception, message).during(seconds, &)
      end

      # @return [Float] the share of the last second that this thread has computed, 0 to 1
      def load
        now = clocks
        @load_since ||= [now.first - 1, now.last]
        wall, computed = now.zip(@load_since).map { |after, before| after - before }
        share = (computed / wall).clamp(0.0, 1.0)
        @load_since = [now.first - 1, now.last - share] if wall > 1
        share
      end

      # Stops the transient tasks when no other is left.
      def end_transient_tasks
        push(@tasks) if @tasks&.only_transient? && waiting <= @tasks.fiber_count
      end

      # Called by Async in a forked process, which has none of its parent's tasks.
      def process_fork
        @tasks = nil
      end

      # Ends transient tasks, and runs the other fibers.
      def run_fibers
        end_transient_tasks
        super
      end

      # Cancels the fibers, and forgets their tasks.
      def cancel
        @tasks = nil
        super
      end

      private

      def clocks
        [Process::CLOCK_MONOTONIC, Process::CLOCK_THREAD_CPUTIME_ID].map { |clock| Process.clock_gettime(clock) }
      end
    end
  end
end
