# frozen_string_literal: true

require "test_helper"

module Scheduler
  # How tasks of the async gem are stopped.
  class AsyncStopTest < Support::SchedulerTest
    needs Support::AsyncGem.obstacle
    also_under_stress

    def test_a_stopped_task_runs_its_ensure_blocks_and_stops_its_children
      ended = []
      statuses = fibers do
        inner = nil
        outer = Async { |task| (inner = task.async { wait_forever(ended, :inner) }) && wait_forever(ended, :outer) }
        sleep(0) until inner
        outer.stop
        [outer, inner].map(&:status)
      end
      assert_equal [%i[outer inner], %i[stopped stopped]], [ended, statuses.map { |one| stopped(one) }]
    end

    def test_a_task_stops_itself
      order = []
      fibers do
        Async { |task| hold(order, :ended) { task.stop && order << :never } }.wait
        order << :waited
      end
      assert_equal %i[ended waited], order
    end

    def test_a_child_stops_its_parent
      ended = []
      fibers do
        Async do |task|
          task.async { wait_forever(ended, :sibling) }
          task.async { sleep(0) && hold(ended, :child) { task.stop && ended << :never } }
          wait_forever(ended, :parent)
        end
      end
      assert_equal %i[child parent sibling], ended.sort
    end

    def test_a_stop_is_deferred
      order = []
      fibers do
        task = Async do |one|
          one.defer_stop { sleep(0.001) && order << :done }
          order << :never
        end
        task.stop
        order << :asked
        task.wait
      end
      assert_equal %i[asked done], order
    end

    def test_an_ensure_block_of_a_stopped_task_may_wait
      order = []
      fibers do
        task = Async do
          sleep
        ensure
          sleep(0.001) && order << :waited
        end
        task.stop
        task.wait
        order << :ended
      end
      assert_equal %i[waited ended], order
    end

    def test_transient_tasks_end_with_the_last_of_the_others
      ended = []
      fibers do
        Async(transient: true) do |task|
          task.async(transient: true) { wait_forever(ended, 2) }
          wait_forever(ended, 1)
        end
        go { sleep(0.002) && ended << :plain }
        Async { sleep(0.005) && ended << :task }
      end
      assert_equal [:plain, :task, 1, 2], ended
    end

    def test_transient_tasks_end_with_a_thread_that_has_no_other_fiber
      ended = []
      in_thread do
        Fiber.set_scheduler(Carat::Scheduler.new)
        Async(transient: true) { wait_forever(ended, :transient) }
      end
      assert_equal [:transient], ended
    end

    def test_a_forked_process_leaves_the_tasks_to_its_parent
      reader, writer = IO.pipe
      fibers do
        Async(transient: true) do
          sleep
        ensure
          writer.puts(Process.pid)
        end
        Process.wait(fork { Sync { sleep 0 } })
      end
      writer.close
      assert_equal [Process.pid], reader.each_line.map(&:to_i)
    end

    def test_tasks_end_when_a_fiber_cancels_the_scheduler
      ended = []
      fibers do
        2.times { |number| Async { wait_forever(ended, number) } }
        go { wait_forever(ended, 2) }
        Fiber.scheduler.cancel
      end
      assert_equal [0, 1, 2], ended.sort
    end

    private

    # Async 2.40 renamed it to `cancelled`.
    def stopped(status)
      status == :cancelled ? :stopped : status
    end

    def wait_forever(ended, name)
      hold(ended, name) { sleep }
    end

    def hold(ended, name)
      yield
    ensure
      ended << name
    end
  end
end
