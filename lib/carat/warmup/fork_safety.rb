# frozen_string_literal: true

module Carat
  module Warmup
    # Whether this process may become a mold. A fork keeps only one thread: locks and state of other threads would stay
    # in every worker as they were at that moment.
    module ForkSafety
      # How long threads may take to end by themselves.
      GRACE_SECONDS = 2
      # Maximum number of threads in a message.
      THREADS_LIMIT = 5
      # Thread variables that mark a thread as harmless: Puma's convention, and that of Timeout and other libraries of
      # Ruby.
      MARKS = %I[fork_safe \0__detached_thread__].freeze
      private_constant :MARKS

      class << self
        # The reason why this process and its forks cannot be molds, from Carat.not_fork_safe!; nil if there is none.
        attr_accessor :objection

        # Returns a message about threads that are still running after `within` seconds, or nil.
        def remark(within: GRACE_SECONDS)
          left = survivors(within)
          return if left.empty?

          places = left.first(THREADS_LIMIT).map { |thread| place(thread) }
          places << "and #{left.size - THREADS_LIMIT} more" if left.size > THREADS_LIMIT
          "Ruby threads are left running: #{places.join("; ")}"
        end

        private

        def survivors(within)
          deadline = now + within
          running.each { |thread| await(thread, deadline - now) }
          running
        end

        def running
          Thread.list.reject do |thread|
            thread.equal?(Thread.current) || MARKS.any? { |mark| thread.thread_variable_get(mark) }
          end
        end

        def await(thread, seconds)
          thread.join(seconds) if seconds.positive?
        rescue Exception # rubocop:disable Lint/RescueException -- a thread may end with any exception
          # The thread has reported its error.
        end

        def place(thread)
          [thread.inspect, thread.backtrace&.first].compact.join(" at ")
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
