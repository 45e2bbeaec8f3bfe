# frozen_string_literal: true

require_relative "../native"
require_relative "address_book"
require_relative "crew"

module Carat
  class Scheduler < Native::Scheduler
    # The hooks for what only a thread can wait for.
    module Offloading
      # The hook of `Process.wait`, `system` and backticks: returns a Process::Status.
      def process_wait(pid, flags)
        until (ended = Process::Status.wait(pid, flags | Process::WNOHANG))
          await_in_thread(pid, flags) unless flags.zero? && await_exit(pid)
        end
        ended
      end

      # The hook of every look-up of a name: returns addresses, or nil when there are none.
      def address_resolve(name)
        (@addresses ||= AddressBook.new).resolve(name)
      end

      # The hook of Ruby 3.4 for what is safe to run elsewhere: opening files, compressing, closing and the like.
      def blocking_operation_wait(operation)
        (@crew ||= Crew.new).run(operation)
      end

      # Before, nobody calls it, and a thread cannot wait for a while.
      remove_method :blocking_operation_wait if RUBY_VERSION < "3.2"

      private

      # The thread takes no status: that of a child which ends as the fiber is interrupted is left for the next one.
      def await_in_thread(pid, flags)
        thread = Thread.new { Native::Scheduler.await_child(pid, flags) }
        thread.join
      ensure
        thread&.kill
      end
    end
  end
end
