# frozen_string_literal: true

module Carat
  class Reactor
    # The tasks of one run of a reactor, added before the run or during it.
    class Round
      # @param on_error [#call, nil] called with each error of a callback; without it, the first error ends the round
      def initialize(on_error)
        @on_error = on_error || method(:fail_with)
        @tasks = {}.compare_by_identity
        @begun = Thread::Queue.new
        @stopped = false
        @failure = nil
      end

      # Starts a task, or drops it when all tasks have ended. Any thread may call this.
      def add(task)
        @tasks[task] = true
        @begun << task
      rescue ClosedQueueError
        @tasks.delete(task)
      end

      # Runs each task in a fiber until all have ended, and calls the block with each task that ends. An exception
      # cancels the tasks.
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

      # Cancels all tasks, also those that are added later. A callback that runs is not interrupted.
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
