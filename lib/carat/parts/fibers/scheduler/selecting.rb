# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # `IO.select`: Ruby says which of the IOs are ready, their buffers included, and the scheduler waits.
    module Selecting
      EVENTS = [IO::READABLE, IO::WRITABLE, IO::PRIORITY].freeze
      private_constant :EVENTS

      # Before 3.2, Ruby has no hook for it: see Patches::Kernel.
      if RUBY_VERSION >= "3.2"
        # The hook of `IO.select`.
        def io_select(readable, writable = nil, exceptional = nil, timeout = nil)
          select_with(timeout, [readable, writable, exceptional]) do
            Fiber.blocking { IO.select(readable, writable, exceptional, 0) }
          end
        end
      end

      # Calls the block again whenever one of the IOs may be ready, and returns what it found; nil after `timeout`
      # seconds.
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
