# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # Threads for operations that would block a scheduler's thread. Ruby 3.4 offers each `File.stat` to the scheduler:
    # that takes 45 us in a new thread and 9 to 19 us in an idle one (and 1 us without a thread, while no other fiber
    # runs).
    class ThreadPool
      # How many idle threads are kept.
      IDLE_LIMIT = 4

      # How long an idle thread is kept.
      IDLE_SECONDS = 1

      # One thread, the queue of its tasks, and the queue of their outcomes.
      Member = Struct.new(:thread, :tasks, :outcomes, :busy) do
        # Gives the thread a task and waits until the task has ended. Raises what the task raised.
        def perform(task)
          self.busy = true
          tasks << task
          error = outcomes.pop
          self.busy = false
          raise error if error
        end
      end

      def initialize
        @idle = []
      end

      # Runs `task` in a thread of the pool. A fiber that is interrupted meanwhile continues only when the task has
      # ended.
      def run(task)
        member = take
        member.perform(task)
      ensure
        give_back(member) if member
      end

      private

      # Returns an idle thread, or a new one. In a forked process, the parent's threads are dead and left out.
      def take
        while (member = @idle.pop)
          return member if member.thread.alive?
        end
        spawn
      end

      def give_back(member)
        if member.busy
          Fiber.blocking { member.thread.kill.join }
        elsif @idle.size < IDLE_LIMIT
          @idle << member
        else
          member.tasks.close
        end
      end

      def spawn
        Member.new(nil, Thread::Queue.new, Thread::Queue.new).tap do |member|
          member.thread = Thread.new { work(member) }
          # Mark the thread as one that does not keep a worker from becoming the mold: it runs only while a fiber waits
          # for it.
          member.thread.thread_variable_set(:fork_safe, true)
        end
      end

      def work(member)
        while (task = next_task(member))
          member.outcomes << error_of(task)
        end
      end

      # Returns the next task, or nil when the thread has been idle for long and is to end. If the thread has been taken
      # from the idle ones at that very time, its task comes at once.
      def next_task(member)
        member.tasks.pop(timeout: IDLE_SECONDS) || (@idle.delete(member) ? nil : member.tasks.pop)
      end

      def error_of(task)
        task.call
        nil
      rescue Exception => e # rubocop:disable Lint/RescueException -- it is raised in the fiber
        e
      end
    end
  end
end
