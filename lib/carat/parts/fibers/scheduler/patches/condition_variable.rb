# frozen_string_literal: true

require_relative "../../../../native"
require_relative "mutex"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # Makes `wait` return nil after the timeout. Ruby 4.0 asks its argument to `sleep`, whose result says whether the
      # time is over, only if the argument is no Mutex.
      module ConditionVariable
        # Stands for a mutex without being a Mutex.
        Sleeper = Struct.new(:mutex) do
          # Returns nil after the timeout.
          def sleep(timeout) = mutex.sleep(timeout)
        end
        private_constant :Sleeper

        # Waits as ConditionVariable#wait, in the fiber; returns nil after the timeout.
        def wait(mutex, timeout = nil)
          return super unless timeout && Fiber.current_scheduler.is_a?(Scheduler)

          super(Sleeper.new(mutex), timeout)
        end
      end

      ::Thread::ConditionVariable.prepend(ConditionVariable) if RUBY_VERSION >= "4.0"
    end
  end
end
