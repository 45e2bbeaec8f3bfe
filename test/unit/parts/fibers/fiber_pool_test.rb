# frozen_string_literal: true

require "test_helper"

class FiberPoolTest < Support::SchedulerTest
  def test_a_size_is_a_whole_number_of_slots
    [0, -1, 1.5, "20", nil].each { |size| assert_raises(ArgumentError) { Carat::FiberPool.new(size) } }
  end

  def test_a_thread_without_a_scheduler_is_refused
    pool = Carat::FiberPool.new(1)
    2.times { assert_raises(Carat::SchedulerError) { pool.spawn { flunk } } }
    assert_equal 0, pool.running
  end

  def test_a_job_that_cannot_begin_takes_no_slot
    pool = Carat::FiberPool.new(1)
    fibers do
      Fiber.scheduler.define_singleton_method(:admit) { raise Carat::SchedulerError, "no room" }
      2.times { assert_raises(Carat::SchedulerError) { pool.spawn { flunk } } }
    end
    assert_equal 0, pool.running
  end

  def test_a_job_that_ends_by_another_exception_frees_its_slot
    pool = Carat::FiberPool.new(1)
    assert_raises(SystemExit) { fibers { pool.spawn { exit } } }
    assert_equal 0, pool.running
  end

  def test_who_waits_for_a_slot_gets_it_in_turn
    seen = []
    fibers do
      pool = Carat::FiberPool.new(1)
      5.times { |number| go { pool.spawn { sleep(0.001) && seen << number } } }
    end
    assert_equal [0, 1, 2, 3, 4], seen
  end

  def test_no_more_jobs_run_at_once_than_there_are_slots
    most = 0
    fibers do
      pool = Carat::FiberPool.new(3)
      10.times { pool.spawn { sleep(0.001) && most = [most, pool.running].max } }
    end
    assert_equal 3, most
  end

  def test_drain_waits_for_all_jobs
    done = 0
    fibers do
      pool = Carat::FiberPool.new(2)
      4.times { pool.spawn { sleep(0.001) && done += 1 } }
      pool.drain
      assert_equal [4, 0], [done, pool.running]
    end
  end

  def test_a_drain_that_is_interrupted_takes_no_slots
    gate = Queue.new
    fibers do
      pool = Carat::FiberPool.new(4)
      pool.spawn { gate.pop }
      drain = go { assert_raises(KeyError) { pool.drain } }
      assert_equal 1, pool.running
      drain.raise(KeyError)
      gate << true
      pool.drain
      assert_equal 0, pool.running
    end
  end

  def test_a_forked_process_has_none_of_the_jobs
    gate = Queue.new
    status = fibers do
      pool = Carat::FiberPool.new(1)
      pool.spawn { gate.pop }
      pid = fork { exit!(pool.running.zero?) }
      Process.wait(pid)
      gate << true
      $?
    end
    assert_predicate status, :success?
  end

  def test_errors_go_to_the_handler
    messages = []
    fibers do
      pool = Carat::FiberPool.new(1) { |error| messages << error.message }
      2.times { |number| pool.spawn { raise NotImplementedError, "job #{number}" } }
    end
    assert_equal ["job 0", "job 1"], messages
  end

  def test_without_a_handler_the_first_error_is_raised_at_the_end
    assert_raises(KeyError) { fibers { Carat::FiberPool.new(1).spawn { raise KeyError } } }
  end
end
