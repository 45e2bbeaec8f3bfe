# frozen_string_literal: true

require_relative "../../../native"
require_relative "address_book"
require_relative "thread_pool"

module Carat
  class Scheduler < Native::Scheduler
    # The hooks for calls that block a thread, and so run in threads of their own.
    module Offloading
      # The hook of `Process.wait`, `system`, and backticks.
      #
      # @return [Process::Status]
      def process_wait(pid, flags)
        until (ended = Process::Status.wait(pid, flags | Process::WNOHANG))
          await_in_thread(pid, flags) unless flags.zero? && await_exit(pid)
        end
        ended
      end

      # The hook of every lookup of a host name.
      #
      # @return [Array<String>, nil] the addresses, or nil when there are none
      def address_resolve(name)
        (@addresses ||= AddressBook.new).resolve(name)
      end

      # The hook of Ruby 3.4 for operations that may run in another thread, such as opening, closing, and compressing.
      # While the fibers are cancelled, none can wait for a thread, and the operation runs here: Fiber.blocking keeps it
      # from calling this hook again.
      def blocking_operation_wait(operation)
        return Fiber.blocking { operation.call } if @cancelled

        (@threads ||= ThreadPool.new).run(operation)
      end

      # Rubies before 3.2 do not call the hook, and their queues have no timeout, which ThreadPool needs.
      remove_method :blocking_operation_wait if RUBY_VERSION < "3.2"

      # Ends the fibers. Their `ensure` blocks run, but cannot wait.
      def cancel
        @cancelled = true
        super
      end

      private

      # Waits in a thread until the child has ended. The thread leaves the child's status to the fiber, because the
      # fiber may be interrupted before it has taken the status from the thread.
      def await_in_thread(pid, flags)
        thread = Thread.new { Native::Scheduler.await_child(pid, flags) }
        thread.join
      ensure
        thread&.kill
      end
    end
  end
end
