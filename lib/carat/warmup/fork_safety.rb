# frozen_string_literal: true

require_relative "thread_origin"

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
          left = survivors(within:)
          "Ruby threads are left running: #{left.join("; ")}" unless left.empty?
        end

        # Returns a text about each of the first threads that are still running after `within` seconds.
        def survivors(within: GRACE_SECONDS)
          deadline = now + within
          running.each { |thread| await(thread, deadline - now) }
          left = running
          places = left.first(THREADS_LIMIT).map { |thread| ThreadOrigin.new(thread).to_s }
          left.size > THREADS_LIMIT ? [*places, "and #{left.size - THREADS_LIMIT} more"] : places
        end

        private

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

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
