# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # `Mutex#sleep`, and so `ConditionVariable#wait`: they return nil when the time is over, which Ruby does not ask a
    # scheduler for, and before 3.3 it does not take the mutex again when the sleep ends by an exception.
    module Relocking
      def sleep(timeout = nil)
        scheduler = Fiber.current_scheduler
        return super unless scheduler.is_a?(Scheduler) && owned?

        began = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
        woken = scheduler.sleep_unlocked(self, timeout)
        woken ? Process.clock_gettime(Process::CLOCK_REALTIME, :second) - began : nil
      end
    end

    Thread::Mutex.prepend(Relocking)

    # Whether something has woken the fiber before its time.
    def sleep_unlocked(mutex, timeout)
      mutex.unlock
      kernel_sleep(*timeout)
    ensure
      mutex.lock
    end
  end
end
