# frozen_string_literal: true

require_relative "address_book"

module Carat
  class Scheduler < Native::Scheduler
    # The hooks for what only a thread can wait for.
    module Offloading
      # The hook of `Process.wait`, `system` and backticks: returns a Process::Status.
      def process_wait(pid, flags)
        ended = Process::Status.wait(pid, flags | Process::WNOHANG)
        return ended if ended
        return Thread.new { Process::Status.wait(pid, flags) }.value unless flags.zero? && await_exit(pid)

        Process::Status.wait(pid, Process::WNOHANG)
      end

      # The hook of every look-up of a name: returns addresses, or nil when there are none.
      def address_resolve(name)
        (@addresses ||= AddressBook.new).resolve(name)
      end

      # The hook of what an extension declares safe to run elsewhere. That works on the fiber's own stack: a fiber that
      # is interrupted goes on only when it has ended.
      def blocking_operation_wait(operation)
        thread = Thread.new do
          Thread.current.report_on_exception = false
          operation.call
        end
        thread.join
      ensure
        Fiber.blocking { thread.kill.join } if thread&.alive?
      end
    end
  end
end
