# frozen_string_literal: true

require_relative "agents"
require_relative "pools/idle_pools"
require_relative "thread_origin"

module Carat
  module Warmup
    # Whether this process may become a mold. A fork keeps only one thread: the locks that other threads hold at that
    # moment, and their half-done work, would stay so in every worker.
    module ForkSafety
      # The seconds that threads have to end by themselves.
      GRACE_SECONDS = 2
      # The seconds for which a worker that serves looks at its threads. It carries out no other order of the edge
      # meanwhile.
      LOOK_SECONDS = 0.5
      # The most threads that a message names.
      THREADS_LIMIT = 5
      # The thread variables that mark a thread as harmless: the first is a convention of Puma, the second of Ruby's own
      # libraries, such as Timeout.
      MARKS = %I[fork_safe \0__detached_thread__].freeze
      private_constant :MARKS

      class << self
        # The reason, given to Carat.not_fork_safe!, why this process and its forks cannot be molds; nil without one.
        attr_accessor :objection

        # The option `fork_safe_threads`: the ends of the paths of files whose threads do not matter, because their
        # library starts them again or no worker needs them.
        attr_writer :spared

        # Returns a message about threads that are still running after `within` seconds, or nil.
        def remark(within: GRACE_SECONDS)
          message(left_after(within))
        end

        # Returns the reason why this process, a worker that serves, could not become a mold, or nil. `own` are the
        # worker's own threads, which end before it becomes one. A thread that ends within `within` seconds is no
        # obstacle: it probably belongs to a request.
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
