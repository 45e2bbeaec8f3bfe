# frozen_string_literal: true

module Carat
  class Scheduler < Native::Scheduler
    # Before Ruby 3.3 a fiber whose `Mutex#sleep` (and so `ConditionVariable#wait`) ends by an exception has not taken
    # the mutex again, and `synchronize` raises a ThreadError in place of that exception.
    module Relocking
      def sleep(timeout = nil)
        return super unless owned? && Fiber.current_scheduler.is_a?(Scheduler)

        begin
          super
        ensure
          lock unless owned?
        end
      end
    end

    Thread::Mutex.prepend(Relocking) if RUBY_VERSION < "3.3"
  end
end
