# frozen_string_literal: true

require_relative "../../request/stack_report"

module Carat
  module Request
    # Where a request stands that runs in a fiber.
    module FiberStack
      # What a fiber waits for, by the hook of the scheduler at the top of its stack.
      IN_SCHEDULER = {
        "block" => "a lock, a queue, or a time", "kernel_sleep" => "a time", "process_wait" => "a process",
        "address_resolve" => "the address of a host", "timeout_after" => "a time"
      }.freeze
      private_constant :IN_SCHEDULER

      module_function

      # Returns what StackReport says of a fiber of the thread.
      def report(fiber, thread)
        calls = fiber.backtrace
        calls ? StackReport.text(waits_for(calls), calls) : StackReport.of_thread(thread)
      end

      def waits_for(calls)
        hook = calls.first.to_s[/[`'#](\w+)'/, 1]
        return "I/O" if hook&.start_with?("io_")
        # Ruby 4.0 does not list the hook.
        return IN_SCHEDULER["block"] if calls.first.to_s.include?("'Thread::")

        IN_SCHEDULER.fetch(hook, StackReport::RUNS)
      end
      private_class_method :waits_for
    end
  end
end
