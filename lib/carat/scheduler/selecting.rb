# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # `IO.select`: Ruby itself says which of the IOs are ready, their buffers included; waiting is the scheduler's part.
    module Selecting
      # Ruby 3.1 knows no hook for `select`, and no way to run a block as if there were no scheduler.
      module BeforeHook
        def select(readable, writable = nil, exceptional = nil, timeout = nil)
          scheduler = Fiber.current_scheduler
          return super unless scheduler.is_a?(Scheduler)

          lists = [readable, writable, exceptional]
          scheduler.select_with(timeout, lists) { super(*lists, 0) }
        end
      end

      EVENTS = [IO::READABLE, IO::WRITABLE, IO::PRIORITY].freeze

      if RUBY_VERSION < "3.2"
        [IO.singleton_class, Kernel.singleton_class].each { |owner| owner.prepend(BeforeHook) }
        Kernel.prepend(BeforeHook.clone.tap { |hook| hook.send(:private, :select) })
      else
        # The hook of `IO.select`.
        def io_select(readable, writable = nil, exceptional = nil, timeout = nil)
          select_with(timeout, [readable, writable, exceptional]) do
            Fiber.blocking { IO.select(readable, writable, exceptional, 0) }
          end
        end
      end

      # Asks the block again whenever one of the IOs may be ready.
      def select_with(timeout, lists)
        raise ArgumentError, "time interval must not be negative" if timeout&.negative?

        deadline = timeout && now + timeout
        until (found = yield)
          left = deadline && deadline - now
          break if left && !left.positive?

          wait_any(interests(lists), left)
        end
        found
      end

      private

      def interests(lists)
        EVENTS.zip(lists).flat_map do |events, ios|
          ios.to_a.map { |io| [IO.try_convert(io), events] }
        end
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
