# frozen_string_literal: true

module Carat
  module Warmup
    # Whether this process may become a mold. A fork takes along one thread only, so that what other threads do, or
    # hold, would be left as it was at that moment in every worker.
    module ForkSafety
      # Threads that end by themselves have so long for it.
      GRACE_SECONDS = 2
      # So many threads are told of.
      THREADS_LIMIT = 5
      # Thread variables that declare a thread to be none to care about; Puma has made the first one known, the second
      # is that of Timeout and other libraries of Ruby.
      MARKS = %I[fork_safe \0__detached_thread__].freeze
      private_constant :MARKS

      class << self
        # Why this process, and those that are forked of it, cannot be molds, if somebody has said so; see
        # Carat.not_fork_safe!.
        attr_accessor :objection

        # Returns what the log says about threads that the application has left running, or nil.
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
        rescue Exception # rubocop:disable Lint/RescueException -- threads end in all ways, and this one stays
          # It has ended with an error of its own, which it has reported.
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
