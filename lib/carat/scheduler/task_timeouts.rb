# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    module AsyncTasks
      # The timers of one `with_timeout`, as an Async::Timeout expects them: with its help the block moves the time.
      class TaskTimeouts
        # One timer, at a time in seconds of the monotonic clock.
        Handle = Struct.new(:scheduler, :number, :time, :block) do
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

        # Runs the block, which takes so many seconds at most.
        def during(seconds, &block)
          handle = schedule(now + seconds, block)
          block.arity.zero? ? yield : yield(Async::Timeout.new(self, handle))
        ensure
          @last&.cancel!
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # A timer for the fiber that runs the block; whoever moves the time may be another one.
        def schedule(time, block)
          number = @scheduler.arm_timeout(time - now, @exception, @message, @fiber)
          @last = Handle.new(@scheduler, number, time, block)
        end
      end
    end
  end
end
