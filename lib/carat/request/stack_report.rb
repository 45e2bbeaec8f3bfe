# frozen_string_literal: true

module Carat
  module Request
    # A text about a running request: a line that says what it waits for, then its calls. Making the report interrupts
    # nothing.
    module StackReport
      # What a sleeping thread waits for, by the kernel function in which it sleeps (proc_pid_wchan(5)).
      IN_KERNEL = {
        /futex/ => "a lock, a queue, or a time", /poll|select/ => "I/O, or a process", /nanosleep/ => "a time",
        /pipe/ => "a pipe", /sk_|skb|sock|inet|tcp|unix/ => "a socket", /wait4|waitid|do_wait/ => "a process",
        /folio|page|bit_wait|io_schedule|fsync/ => "a file"
      }.freeze
      # The folder of Carat's code. Its calls are left out at the end of the backtrace, because they say nothing about
      # the application.
      OWN = "#{File.expand_path("..", __dir__)}/"
      # The line for a request that does not wait.
      RUNS = "nothing: it runs"
      private_constant :IN_KERNEL, :OWN

      module_function

      # Returns the text about a thread.
      def of_thread(thread)
        text(thread_waits_for(thread), thread.backtrace.to_a)
      end

      # Returns the text about `calls`, a backtrace.
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

      # Returns the kernel function in which a thread sleeps; "" for a thread that runs, and where the kernel does not
      # tell.
      def kernel_function(thread)
        id = thread.native_thread_id
        place = id ? File.read("/proc/self/task/#{id}/wchan") : ""
        place == "0" ? "" : place
      rescue SystemCallError
        ""
      end

      private_class_method :thread_waits_for, :kernel_function
    end
  end
end
