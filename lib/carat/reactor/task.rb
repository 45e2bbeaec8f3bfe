# frozen_string_literal: true

require_relative "../application_errors"

module Carat
  class Reactor
    # Something that waits in a fiber of its own and then calls a block, once or again and again. What it waits for is
    # what kinds of tasks differ in: `wait` returns when the block is to be called, and raises IOError when it never
    # will; `repeats?` says whether that is all.
    class Task
      # Raised in the fiber of a task that is cancelled while it waits.
      class Cancelled < StandardError; end

      # `callback` is called with the arguments that `call` is given.
      def initialize(callback)
        @callback = callback
        @over = @waiting = false
      end

      # Waits and calls, in the fiber that calls this. Errors of the block go to `on_error`.
      def run(on_error)
        @fiber = Fiber.current
        @scheduler = Fiber.scheduler
        loop do
          break unless pause

          attempt(on_error)
          break unless repeats?
        end
      end

      # The block is not called again; in the thread that runs the task.
      def cancel
        @over = true
        @scheduler.fiber_interrupt(@fiber, Cancelled.new) if @waiting
      end

      private

      # Whether the block is to be called.
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
