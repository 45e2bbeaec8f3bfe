# frozen_string_literal: true

require_relative "../../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # What core classes do differently in a fiber that this scheduler runs.
    module Patches
      # `close` and the like: before 4.0, Ruby does not tell a scheduler that an IO is closed, and a fiber that waits
      # for it would wait for ever. It gets an IOError, as a thread does.
      #
      # `sysread` and `syswrite`: with a scheduler, Ruby tries once and raises EAGAIN. They wait instead, as they do in
      # a thread.
      module IO
        # An IO belongs to one Ractor, and only the main one has schedulers.
        def self.schedulers
          Native::Scheduler if Ractor.current.equal?(Ractor.main)
        end

        # Interrupts the fibers that wait for the IO, and closes it.
        def close
          IO.schedulers&.closing(self)
          super
        end

        # Interrupts the fibers that wait to read, and closes that side.
        def close_read
          IO.schedulers&.closing_half(self, false)
          super
        end

        # Interrupts the fibers that wait to write, and closes that side.
        def close_write
          IO.schedulers&.closing_half(self, true)
          super
        end

        # When reopening fails, the IO stays open.
        def reopen(...)
          super.tap { IO.schedulers&.closing(self) }
        end

        # Reads as IO#sysread; waits in the fiber.
        def sysread(...)
          super
        rescue Errno::EAGAIN
          raise unless Fiber.current_scheduler.is_a?(Scheduler)

          wait_readable
          retry
        end

        # Writes as IO#syswrite; waits in the fiber.
        def syswrite(...)
          super
        rescue Errno::EAGAIN
          raise unless Fiber.current_scheduler.is_a?(Scheduler)

          wait_writable
          retry
        end
      end

      ::IO.prepend(IO)
    end
  end
end
