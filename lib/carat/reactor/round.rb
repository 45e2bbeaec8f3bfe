# frozen_string_literal: true

module Carat
  class Reactor
    # The tasks of one run of a reactor: those that are added before it and meanwhile.
    class Round
      # The callable, if any, is given the errors of callbacks; without one, the first of them ends the round.
      def initialize(on_error)
        @on_error = on_error || method(:fail_with)
        @tasks = {}.compare_by_identity
        @begun = Thread::Queue.new
        @stopped = false
        @failure = nil
      end

      # Has a task started; any thread may call it. When all have ended, no other is.
      def add(task)
        @tasks[task] = true
        @begun << task
      rescue ClosedQueueError
        @tasks.delete(task)
      end

      # Starts what is added, each task in a fiber, until all have ended, which the block is told of. Whatever ends it
      # before cancels the tasks.
      def run(&ended)
        @begun.close if @tasks.empty?
        while (task = @begun.pop)
          start(task, &ended)
        end
        failure = @failure
        raise failure if failure
      ensure
        stop
      end

      # Cancels all tasks, and those that are added from now on; callbacks that are under way go on.
      def stop
        @stopped = true
        @tasks.each_key.to_a.each(&:cancel)
      end

      private

      def start(task)
        task.cancel if @stopped
        Fiber.schedule do
          task.run(@on_error)
        ensure
          @tasks.delete(task)
          yield task
          @begun.close if @tasks.empty?
        end
      end

      def fail_with(error)
        @failure ||= error
        stop
      end
    end
  end
end
