# frozen_string_literal: true

require_relative "../../../../native"
require_relative "mutex"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # Makes `wait` return nil after the timeout. With a Mutex as argument, Ruby 4.0 does not find out whether the time
      # is over. With any other object it calls the object's `sleep`, whose result says so.
      module ConditionVariable
        # Wraps a mutex in an object that is no Mutex.
        Sleeper = Struct.new(:mutex) do
          # Returns nil after the timeout.
          def sleep(timeout) = mutex.sleep(timeout)
        end
        private_constant :Sleeper

        # Waits in the fiber, as ConditionVariable#wait does. Returns nil after the timeout.
        def wait(mutex, timeout = nil)
          return super unless timeout && Fiber.current_scheduler.is_a?(Scheduler)

          super(Sleeper.new(mutex), timeout)
        end
      end

      ::Thread::ConditionVariable.prepend(ConditionVariable) if RUBY_VERSION >= "4.0"
    end
  end
end
