# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # Threads for calls that would block a scheduler's thread. Ruby 3.4 uses one for each `File.stat`, which takes 45
    # us in a new thread and 9 to 19 in an idle one (and 1 without a thread, while no other fiber runs).
    class ThreadPool
      # How many idle threads are kept.
      IDLE_LIMIT = 4

      # How long an idle thread is kept.
      IDLE_SECONDS = 1

      # One thread, the tasks that it is given, and their outcomes.
      Member = Struct.new(:thread, :tasks, :outcomes, :busy) do
        # Waits until the task has ended. Raises what the task raised.
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

      # Calls `task` in a thread. A fiber that is interrupted meanwhile goes on only when the task has ended.
      def run(task)
        member = take
        member.perform(task)
      ensure
        give_back(member) if member
      end

      private

      # In a forked process the threads of the parent are dead.
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
          # The thread runs only while a fiber waits for it, so a worker may become the mold.
          member.thread.thread_variable_set(:fork_safe, true)
        end
      end

      def work(member)
        while (task = next_task(member))
          member.outcomes << error_of(task)
        end
      end

      # Returns nil after an idle time. A member that has been taken meanwhile gets a task at once.
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
