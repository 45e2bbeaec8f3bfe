# frozen_string_literal: true

require "test_helper"

module Scheduler
  # Tasks of the async gem, whose fibers this scheduler runs among its others.
  class AsyncTest < Support::SchedulerTest
    needs Support::AsyncGem.obstacle
    also_under_stress

    def test_sync_returns_the_value_of_its_block
      assert_equal([:value, nil], fibers { [Sync { sleep(0.001) && :value }, Fiber.current.async_task] })
    end

    def test_async_returns_a_task_that_runs_meanwhile
      order = []
      value = fibers do
        task = Async { order << 1 && sleep(0.001) && order << 3 && :value }
        order << 2
        task.wait
      end
      assert_equal [:value, [1, 2, 3]], [value, order]
    end

    def test_tasks_wait_beside_one_another_and_beside_plain_fibers
      order = []
      fibers do
        queues = Array.new(3) { Thread::Queue.new }
        go { order << queues[0].pop && queues[1] << :second }
        Sync do |task|
          task.async { order << queues[1].pop && queues[2] << :third }
          task.async { |inner| inner.sleep(0.001) && queues[0] << :first }
          order << queues[2].pop
        end
      end
      assert_equal %i[first second third], order
    end

    def test_a_task_knows_itself_and_its_parent
      fibers do
        Sync do |task|
          assert_same task, Async::Task.current
          Async { |inner| sleep(0) && assert_same(task, inner.parent) }.wait
          assert_same task.reactor, task.parent
        end
        refute_predicate Async::Task, :current?
      end
    end

    def test_an_error_goes_to_the_one_who_waits
      error = fibers { assert_raises(KeyError) { Sync { |task| task.async { sleep(0) && raise(KeyError) }.wait } } }
      assert_instance_of KeyError, error
    end

    def test_an_error_that_nobody_waits_for_ends_its_task_alone
      statuses = fibers do
        tasks = [Async { raise KeyError }, Async { sleep 0.001 }]
        sleep 0.005
        tasks.map(&:status)
      end
      assert_equal %i[failed completed], statuses
    end

    def test_exit_in_a_task_ends_the_loop_and_the_other_tasks
      ended = []
      error = assert_raises(SystemExit) do
        in_thread do
          Fiber.set_scheduler(Carat::Scheduler.new)
          2.times { |number| Async { wait_forever(ended, number) } }
          Async { sleep(0) && exit(7) }
          Fiber.scheduler.run
        end
      end
      assert_equal [7, [0, 1]], [error.status, ended.sort]
    end

    def test_tasks_that_an_exit_leaves_behind_run_their_ensure_blocks
      ended = []
      assert_raises(SystemExit) do
        fibers do
          3.times do |number|
            Async { |task| task.async { wait_forever(ended, number) } && wait_forever(ended, :outer) }
          end
          go { wait_forever(ended, :plain) }
          exit
        end
      end
      assert_equal [0, 1, 2, :outer, :outer, :outer, :plain], ended.sort_by(&:to_s)
    end

    private

    def wait_forever(ended, name)
      sleep
    ensure
      ended << name
    end
  end
end
