# frozen_string_literal: true

require_relative "../../../../native"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # Patches Mutex#sleep, which ConditionVariable#wait calls. With a scheduler, Ruby's own does not return nil at its
      # timeout. Before 3.3, it also does not lock the mutex again when an exception ends the sleep.
      module Mutex
        # Sleeps in the fiber, as Mutex#sleep does. Returns nil after the timeout.
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

    # Sleeps without the lock of `mutex`, and returns whether something has woken the fiber before `timeout`.
    def sleep_unlocked(mutex, timeout)
      mutex.unlock
      kernel_sleep(*timeout)
    ensure
      mutex.lock
    end
  end
end
