# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    module AsyncTasks
      # The timers of one `with_timeout`, with the methods that an Async::Timeout calls to move the deadline.
      class TaskTimeouts
        # One timer. `time` is the deadline, in seconds of the monotonic clock.
        Handle = Struct.new(:scheduler, :number, :time, :block) do
          # Disarms the timer.
          def cancel!
            scheduler.disarm_timeout(number) if number
            self.number = self.block = nil
          end

          def cancelled?
            number.nil?
          end
        end

        def initialize(scheduler, exception, message)
          @scheduler = scheduler
          @exception = exception
          @message = message
          @fiber = Fiber.current
          @last = nil
        end

        # Runs the block under a timeout of `seconds`.
        def during(seconds, &block)
          handle = schedule(now + seconds, block)
          block.arity.zero? ? yield : yield(Async::Timeout.new(self, handle))
        ensure
          @last&.cancel!
        end

        # Returns the time in seconds of the monotonic clock.
        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # Adds a timer for the fiber that runs the block of `with_timeout`. Another fiber may call this, to move the
        # deadline.
        def schedule(time, block)
          number = @scheduler.arm_timeout(time - now, @exception, @message, @fiber)
          @last = Handle.new(@scheduler, number, time, block)
        end
      end
    end
  end
end
