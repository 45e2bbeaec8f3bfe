# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # `IO.select` in a fiber. The scheduler waits, and Ruby says which IOs are ready, because it also knows the bytes in
    # their buffers.
    module Selecting
      EVENTS = [IO::READABLE, IO::WRITABLE, IO::PRIORITY].freeze
      private_constant :EVENTS

      # Ruby 3.1 has no hook for `IO.select`: see Patches::Kernel.
      if RUBY_VERSION >= "3.2"
        # The hook of `IO.select`.
        def io_select(readable, writable = nil, exceptional = nil, timeout = nil)
          select_with(timeout, [readable, writable, exceptional]) do
            Fiber.blocking { IO.select(readable, writable, exceptional, 0) }
          end
        end
      end

      # Calls the block at first and whenever one of the IOs may be ready, until it returns something. Returns that, or
      # nil after `timeout` seconds.
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
