# frozen_string_literal: true

require_relative "../../../../native"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # `sleep`, and so `ConditionVariable#wait`: it returns nil at its limit, which Ruby does not expect of a
      # scheduler. Before 3.3, Ruby also does not lock the mutex again when an exception ends the sleep.
      module Mutex
        # Sleeps as Mutex#sleep, in the fiber; returns nil after the timeout.
        def sleep(timeout = nil)
          scheduler = Fiber.current_scheduler
          return super unless scheduler.is_a?(Scheduler) && owned?

          began = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
          woken = scheduler.sleep_unlocked(self, timeout)
          woken ? Process.clock_gettime(Process::CLOCK_REALTIME, :second) - began : nil
        end
      end

      ::Thread::Mutex.prepend(Mutex)
    end

    # Returns whether something has woken the fiber before `timeout`.
    def sleep_unlocked(mutex, timeout)
      mutex.unlock
      kernel_sleep(*timeout)
    ensure
      mutex.lock
    end
  end
end
