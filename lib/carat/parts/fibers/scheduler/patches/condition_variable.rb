# frozen_string_literal: true

require_relative "../../../../native"
require_relative "mutex"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # `wait`: Ruby 4.0 calls `sleep`, which returns nil after the timeout, only of objects that are no Mutex.
      module ConditionVariable
        # Sleeps as its mutex does.
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
