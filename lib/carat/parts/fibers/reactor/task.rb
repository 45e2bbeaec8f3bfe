# frozen_string_literal: true

require_relative "../../../application_errors"

module Carat
  class Reactor
    # Waits in a fiber and then calls a block, once or repeatedly. A subclass says what a task waits for: its `wait`
    # returns when the block is due, and raises IOError when the block never will be. `repeats?` says whether to wait
    # again.
    class Task
      # Raised in the fiber of a task that is cancelled during its wait.
      class Cancelled < StandardError; end

      # @param callback [Proc] the block to call
      def initialize(callback)
        @callback = callback
        @over = @waiting = false
      end

      # Waits and calls the block, in the calling fiber. Errors of the block go to `on_error`.
      def run(on_error)
        @fiber = Fiber.current
        @scheduler = Fiber.scheduler
        loop do
          break unless pause

          attempt(on_error)
          break unless repeats?
        end
      end

      # Prevents further calls of the block. Only the thread that runs the task may call this.
      def cancel
        @over = true
        @scheduler.fiber_interrupt(@fiber, Cancelled.new) if @waiting
      end

      private

      # Waits, and returns whether to call the block.
      def pause
        return false if @over

        @waiting = true
        wait
        !@over
      rescue Cancelled, IOError
        false
      ensure
        @waiting = false
      end

      def attempt(on_error)
        call(@callback)
      rescue *APPLICATION_ERRORS => e
        on_error.call(e)
      end

      def call(callback)
        callback.call
      end

      def repeats?
        false
      end

      def wait; end
    end
  end
end
