# frozen_string_literal: true

require_relative "../../request/stack_report"

module Carat
  module Request
    # Says what a request that runs in a fiber is doing.
    module FiberStack
      # What a fiber waits for, by the scheduler's hook that is at the top of its stack.
      IN_SCHEDULER = {
        "block" => "a lock, a queue, or a time", "kernel_sleep" => "a time", "process_wait" => "a process",
        "address_resolve" => "the address of a host", "timeout_after" => "a time"
      }.freeze
      private_constant :IN_SCHEDULER

      module_function

      # Returns the text of StackReport about a fiber of `thread`.
      def report(fiber, thread)
        calls = fiber.backtrace
        calls ? StackReport.text(waits_for(calls), calls) : StackReport.of_thread(thread)
      end

      def waits_for(calls)
        hook = calls.first.to_s[/[`'#](\w+)'/, 1]
        return "I/O" if hook&.start_with?("io_")
        # In Ruby 4.0 the hook is not in the backtrace.
        return IN_SCHEDULER["block"] if calls.first.to_s.include?("'Thread::")

        IN_SCHEDULER.fetch(hook, StackReport::RUNS)
      end
      private_class_method :waits_for
    end
  end
end
