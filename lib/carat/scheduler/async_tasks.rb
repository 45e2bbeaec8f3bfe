# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # What the tasks of the `async` gem (2.x) ask of the scheduler that they find: its own has these methods too.
    # Async makes the fibers of tasks itself; this scheduler runs them among its others. Nothing of Async is changed,
    # and nothing is loaded until it asks.
    module AsyncTasks
      autoload :TaskTree, File.join(__dir__, "task_tree")
      autoload :TaskTimeouts, File.join(__dir__, "task_timeouts")

      # Makes this the parent of a task.
      def add_child(task)
        @tasks ||= TaskTree.new(self)
        @tasks.adopt(task)
      end

      # Lets a fiber run at once, one that is new or in `transfer`; the one that calls goes on when its turn comes.
      def resume(fiber)
        start(fiber)
      end

      # Waits until somebody resumes this fiber.
      def transfer
        block(nil)
      end

      # Lets a fiber go on when its turn comes; anything else that can `transfer` is told to do so then.
      def push(target)
        target.is_a?(Fiber) ? super : push(new_fiber { target.transfer if target.alive? })
      end

      # Raises in another fiber that waits, at once. Without a fiber it is `Kernel#raise`.
      def raise(*arguments, **options)
        fiber, *exception = arguments
        fiber.is_a?(Fiber) ? fiber.raise(*exception, **options) : super
      end

      # Raises in this fiber when the block takes too long. The block may be given an Async::Timeout.
      def with_timeout(seconds, exception = Async::TimeoutError, message = "execution expired", &)
        TaskTimeouts.new(self, exception, message).during(seconds, &)
      end

      # The share of the last second that this thread has computed: 0 to 1.
      def load
        now = clocks
        @load_since ||= [now.first - 1, now.last]
        wall, computed = now.zip(@load_since).map { |after, before| after - before }
        share = (computed / wall).clamp(0.0, 1.0)
        @load_since = [now.first - 1, now.last - share] if wall > 1
        share
      end

      # Ends the tasks that nobody waits for (`transient`) when they are all that is left.
      def end_transient_tasks
        push(@tasks) if @tasks&.only_transient? && waiting <= @tasks.fiber_count
      end

      # Called by Async in a forked process: the tasks are those of its parent.
      def process_fork
        @tasks = nil
      end

      def run_fibers
        end_transient_tasks
        super
      end

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
