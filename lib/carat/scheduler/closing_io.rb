# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # Rubies before 4.0 do not tell a scheduler that an IO is closed for which a fiber waits: it would wait forever.
    # A thread that does so gets an IOError, and so does the fiber.
    module ClosingIO
      def close
        Native::Scheduler.closing(self)
        super
      end

      def close_read
        Native::Scheduler.closing_half(self, false)
        super
      end

      def close_write
        Native::Scheduler.closing_half(self, true)
        super
      end

      # When it fails, the IO is what it was.
      def reopen(...)
        super.tap { Native::Scheduler.closing(self) }
      end
    end

    IO.prepend(ClosingIO)
  end
end
