# frozen_string_literal: true

module Carat
  module Warmup
    module Agents
      # Bugsnag 6.27. A thread sends its errors; each process starts one at its first error. A TimerTask of
      # concurrent-ruby sends the number of its sessions every ten seconds; each process starts one at its first
      # session.
      module Bugsnag
        module_function

        # Prepares a forked process: the sessions that it has inherited are its parent's to send.
        def start
          tracker&.session_counts&.clear
          forget_timer
        end

        # Sends the sessions. Bugsnag's own block at an exit ends the timer, and sends none.
        def finish
          tracker.send_sessions if tracker&.session_counts&.any?
        end

        # Sends all that waits, and ends the timer.
        def flush
          timer&.shutdown
          finish
          forget_timer
          await_errors
        end

        def tracker = ::Bugsnag.instance_variable_get(:@session_tracker)

        def timer = tracker&.instance_variable_get(:@delivery_thread)

        # Makes the tracker start a timer at the next session.
        def forget_timer
          %i[@delivery_thread @started].each { |name| tracker&.instance_variable_set(name, nil) }
        end

        # Waits until the thread has sent the errors before this call.
        def await_errors
          delivery = ::Bugsnag::Delivery::ThreadQueue
          return unless delivery.instance_variable_get(:@started) == Process.pid

          sent = Queue.new
          delivery.instance_variable_get(:@queue) << -> { sent << true }
          sent.pop
        end

        private_class_method :tracker, :timer, :forget_timer, :await_errors
      end
    end
  end
end
