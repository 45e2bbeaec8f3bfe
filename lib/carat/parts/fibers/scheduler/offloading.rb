# frozen_string_literal: true

require_relative "../../../native"
require_relative "address_book"
require_relative "thread_pool"

module Carat
  class Scheduler < Native::Scheduler
    # The hooks for calls that only a thread can wait for.
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

      # The hook of every name lookup.
      #
      # @return [Array<String>, nil] addresses, or nil when there are none
      def address_resolve(name)
        (@addresses ||= AddressBook.new).resolve(name)
      end

      # The hook of Ruby 3.4 for operations that may run in another thread, such as opening, closing, and compressing.
      # A fiber that is being ended cannot wait for one; where it blocks, the operation does not call this hook again.
      def blocking_operation_wait(operation)
        return Fiber.blocking { operation.call } if @cancelled

        (@threads ||= ThreadPool.new).run(operation)
      end

      # Earlier Rubies do not call the hook, and their queues have no timeout.
      remove_method :blocking_operation_wait if RUBY_VERSION < "3.2"

      # Ends the fibers: their `ensure` blocks run, but cannot wait.
      def cancel
        @cancelled = true
        super
      end

      private

      # The thread does not take the status of the child, since the fiber may be interrupted before it does.
      def await_in_thread(pid, flags)
        thread = Thread.new { Native::Scheduler.await_child(pid, flags) }
        thread.join
      ensure
        thread&.kill
      end
    end
  end
end
