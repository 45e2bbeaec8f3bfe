# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # The methods that tasks of the `async` gem (2.x) call on a scheduler, and that Async's own scheduler has as well.
    # Async makes the fibers of its tasks, and this scheduler runs them among its other fibers. Async is not patched,
    # and its code is not loaded before it calls one of these methods.
    module AsyncTasks
      autoload :TaskTree, File.join(__dir__, "task_tree")
      autoload :TaskTimeouts, File.join(__dir__, "task_timeouts")

      # Makes this scheduler the parent of a task.
      def add_child(task)
        @tasks ||= TaskTree.new(self)
        @tasks.adopt(task)
      end

      # Runs a fiber at once: a new fiber, or one that waits in `transfer`. The caller continues when its turn comes.
      def resume(fiber)
        start(fiber)
      end

      # Makes the calling fiber wait until somebody resumes it.
      def transfer
        block(nil)
      end

      # Queues a fiber, to run when its turn comes. For any other object, queues a new fiber that calls its `transfer`.
      def push(target)
        target.is_a?(Fiber) ? super : push(new_fiber { target.transfer if target.alive? })
      end

      # Raises an exception at once in another fiber that waits. Without a fiber as argument, this is `Kernel#raise`.
      def raise(*arguments, **options)
        fiber, *exception = arguments
        fiber.is_a?(Fiber) ? fiber.raise(*exception, **options) : super
      end

      # Raises `exception` in the calling fiber when the block takes longer than `seconds`. A block with a parameter
      # gets an Async::Timeout.
      def with_timeout(seconds, exception = Async::TimeoutError, message = "execution expired", &)
        TaskTimeouts.new(self, exception, message).during(seconds, &)
      end

      # @return [Float] the share of the last second in which this thread used the CPU, 0 to 1
      def load
        now = clocks
        @load_since ||= [now.first - 1, now.last]
        wall, computed = now.zip(@load_since).map { |after, before| after - before }
        share = (computed / wall).clamp(0.0, 1.0)
        @load_since = [now.first - 1, now.last - share] if wall > 1
        share
      end

      # Stops the transient tasks of Async when no other task or fiber is left.
      def end_transient_tasks
        push(@tasks) if @tasks&.only_transient? && waiting <= @tasks.fiber_count
      end

      # Forgets the tasks: Async calls this in a forked process, which has none of its parent's tasks.
      def process_fork
        @tasks = nil
      end

      # Runs the fibers. If all tasks are transient, they are stopped first.
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
