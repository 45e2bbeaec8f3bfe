# frozen_string_literal: true

module Carat
  module Request
    # Where a request stands: a line that says what it waits for, then its calls. Nothing is interrupted for it.
    module StackReport
      # What a sleeping thread waits for, by the function of the kernel in which it sleeps (proc_pid_wchan(5)).
      IN_KERNEL = {
        /futex/ => "a lock, a queue, or a time", /poll|select/ => "I/O, or a process", /nanosleep/ => "a time",
        /pipe/ => "a pipe", /sk_|skb|sock|inet|tcp|unix/ => "a socket", /wait4|waitid|do_wait/ => "a process",
        /folio|page|bit_wait|io_schedule|fsync/ => "a file"
      }.freeze
      # What a fiber waits for, by the hook of the scheduler at the top of its stack.
      IN_SCHEDULER = {
        "block" => "a lock, a queue, or a time", "kernel_sleep" => "a time", "process_wait" => "a process",
        "address_resolve" => "the address of a host", "timeout_after" => "a time"
      }.freeze
      # The server's own calls, which say nothing about the application.
      OWN = "#{File.expand_path("..", __dir__)}/"
      RUNS = "nothing: it runs"
      private_constant :IN_KERNEL, :IN_SCHEDULER, :OWN, :RUNS

      module_function

      # Returns the text about a thread.
      def of_thread(thread)
        text(thread_waits_for(thread), thread.backtrace.to_a)
      end

      # Returns the text about a fiber of the thread.
      def of_fiber(fiber, thread)
        calls = fiber.backtrace
        calls ? text(fiber_waits_for(calls), calls) : of_thread(thread)
      end

      def text(waits_for, calls)
        own = calls.reverse_each.take_while { |call| call.start_with?(OWN) }
        [waits_for, *calls.first(calls.size - own.size)].join("\n")
      end

      def thread_waits_for(thread)
        place = kernel_function(thread)
        return place.match?(/futex/) ? "the GVL" : RUNS if thread.status == "run"

        return "unknown: it sleeps or runs outside the GVL" if place.empty?

        "#{IN_KERNEL.find { |pattern, _what| pattern.match?(place) }&.last || "something"} (#{place})"
      end

      # Returns "" for a thread that runs, and where the kernel does not tell.
      def kernel_function(thread)
        id = thread.native_thread_id
        place = id ? File.read("/proc/self/task/#{id}/wchan") : ""
        place == "0" ? "" : place
      rescue SystemCallError
        ""
      end

      def fiber_waits_for(calls)
        hook = calls.first.to_s[/[`'#](\w+)'/, 1]
        return "I/O" if hook&.start_with?("io_")
        # Ruby 4.0 does not list the hook.
        return IN_SCHEDULER["block"] if calls.first.to_s.include?("'Thread::")

        IN_SCHEDULER.fetch(hook, RUNS)
      end

      private_class_method :text, :thread_waits_for, :kernel_function, :fiber_waits_for
    end
  end
end
