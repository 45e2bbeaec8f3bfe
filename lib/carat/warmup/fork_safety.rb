# frozen_string_literal: true

require_relative "agents"
require_relative "pools/idle_pools"
require_relative "thread_origin"

module Carat
  module Warmup
    # Whether this process may become a mold. A fork keeps only one thread: the locks and the state of other threads
    # would stay as they are in every worker.
    module ForkSafety
      # How long threads may take to end by themselves.
      GRACE_SECONDS = 2
      # How long a worker that serves looks at its threads. Meanwhile it carries out no other order of the edge.
      LOOK_SECONDS = 0.5
      # Maximum number of threads in a message.
      THREADS_LIMIT = 5
      # Thread variables that mark a thread as harmless: Puma's convention, and that of Timeout and other libraries of
      # Ruby.
      MARKS = %I[fork_safe \0__detached_thread__].freeze
      private_constant :MARKS

      class << self
        # The reason why this process and its forks cannot be molds, from Carat.not_fork_safe!; nil if there is none.
        attr_accessor :objection

        # The ends of the paths of files whose threads are started again, or need not be: option `fork_safe_threads`.
        attr_writer :spared

        # Returns a message about threads that are still running after `within` seconds, or nil.
        def remark(within: GRACE_SECONDS)
          message(left_after(within))
        end

        # Returns why this process, a worker that serves, could not become a mold, or nil. `own` are the worker's
        # threads that would end first. A thread that ends within `within` seconds belongs to a request.
        def obstacle(own:, within: LOOK_SECONDS)
          return objection if objection

          lasting = running - own - IdlePools.threads
          deadline = now + within
          lasting.each { |thread| await(thread, deadline - now) }
          message(lasting.select(&:alive?))
        end

        # Returns a text about each of the first threads that are still running after `within` seconds.
        def survivors(within: GRACE_SECONDS)
          texts(left_after(within))
        end

        private

        def left_after(seconds)
          deadline = now + seconds
          running.each { |thread| await(thread, deadline - now) }
          running
        end

        def message(threads)
          "Ruby threads are left running: #{texts(threads).join("; ")}" unless threads.empty?
        end

        def texts(threads)
          places = threads.first(THREADS_LIMIT).map { |thread| ThreadOrigin.new(thread).to_s }
          threads.size > THREADS_LIMIT ? [*places, "and #{threads.size - THREADS_LIMIT} more"] : places
        end

        def running
          Thread.list.reject do |thread|
            thread.equal?(Thread.current) || MARKS.any? { |mark| thread.thread_variable_get(mark) } || spared?(thread)
          end
        end

        def spared?(thread)
          path = ThreadOrigin.new(thread).path or return false

          Agents.restarted?(path) || (@spared || []).any? { |name| "/#{path}".end_with?("/#{name}".b) }
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
