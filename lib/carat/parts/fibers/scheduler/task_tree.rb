# frozen_string_literal: true

require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    module AsyncTasks
      # The root of the tasks of a scheduler. It exists because only an Async::Node can be the parent of a task.
      class TaskTree < Async::Node
        def initialize(scheduler)
          super()
          @scheduler = scheduler
        end

        # Becomes the parent of `task`.
        def adopt(task)
          add_child(task)
        end

        # Async calls this when a task has ended.
        def consume
          @scheduler.end_transient_tasks
        end

        # Whether there are tasks, all of them transient.
        def only_transient?
          children? && children.finished?
        end

        # How many fibers run the tasks.
        def fiber_count
          traverse.count { |node, _| !node.equal?(self) && node.alive? }
        end

        # Stops all tasks if only transient ones are left.
        def transfer
          children.each(&:stop) if only_transient?
        end

        def alive?
          true
        end
      end
    end
  end
end
