# frozen_string_literal: true

require_relative "../../../application_errors"

module Carat
  class Reactor
    # Waits in a fiber of its own and then calls a block, once or repeatedly. Subclasses say what it waits for: `wait`
    # returns when the block is due, and raises IOError when it never will be; `repeats?` says whether to wait again.
    class Task
      # Raised in the fiber of a task that is cancelled while it waits.
      class Cancelled < StandardError; end

      # @param callback [Proc] what to call
      def initialize(callback)
        @callback = callback
        @over = @waiting = false
      end

      # Waits and calls the block, in the calling fiber. `on_error` is called with errors of the block.
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

      # Returns whether to call the block.
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
