# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # `IO#sysread` and `IO#syswrite`: with a scheduler Ruby makes one attempt, and raises what that comes to. They wait
    # in a thread, and so in a fiber.
    module Retrying
      def sysread(...)
        super
      rescue Errno::EAGAIN
        raise unless Fiber.current_scheduler.is_a?(Scheduler)

        wait_readable
        retry
      end

      def syswrite(...)
        super
      rescue Errno::EAGAIN
        raise unless Fiber.current_scheduler.is_a?(Scheduler)

        wait_writable
        retry
      end
    end

    IO.prepend(Retrying)
  end
end
