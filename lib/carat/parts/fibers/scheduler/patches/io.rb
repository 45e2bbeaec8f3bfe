# frozen_string_literal: true

require_relative "../../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # Patches of core classes, for fibers that this scheduler runs.
    module Patches
      # Patches of IO. `close` and the like: before 4.0, Ruby does not tell a scheduler that an IO is closed, so a
      # fiber that waits for the IO would wait for ever. With the patch the fiber gets an IOError, as a thread does.
      #
      # `sysread` and `syswrite`: with a scheduler, Ruby tries once and raises EAGAIN. With the patch they wait, as they
      # do in a thread.
      module IO
        # Returns the class that knows all schedulers, or nil outside of the main Ractor: an IO belongs to one Ractor,
        # and only the main one has schedulers.
        def self.schedulers
          Native::Scheduler if Ractor.current.equal?(Ractor.main)
        end

        # Interrupts the fibers that wait for the IO, and closes it.
        def close
          IO.schedulers&.closing(self)
          super
        end

        # Interrupts the fibers that wait to read, and closes the IO for reading.
        def close_read
          IO.schedulers&.closing_half(self, false)
          super
        end

        # Interrupts the fibers that wait to write, and closes the IO for writing.
        def close_write
          IO.schedulers&.closing_half(self, true)
          super
        end

        # Reopens the IO, and then interrupts the fibers that wait for it. When reopening fails, the IO stays open, and
        # they continue to wait.
        def reopen(...)
          super.tap { IO.schedulers&.closing(self) }
        end

        # Reads as IO#sysread does, and waits in the fiber.
        def sysread(...)
          super
        rescue Errno::EAGAIN
          raise unless Fiber.current_scheduler.is_a?(Scheduler)

          wait_readable
          retry
        end

        # Writes as IO#syswrite does, and waits in the fiber.
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
