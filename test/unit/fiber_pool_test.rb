# frozen_string_literal: true

require "test_helper"
require "support/scheduler_test"

class FiberPoolTest < Support::SchedulerTest
  def test_no_more_jobs_run_at_once_than_there_are_places
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

  def test_errors_go_to_the_handler
    messages = []
    fibers do
      pool = Carat::FiberPool.new(1) { |error| messages << error.message }
      2.times { |number| pool.spawn { raise "job #{number}" } }
    end
    assert_equal ["job 0", "job 1"], messages
  end

  def test_without_a_handler_the_first_error_is_raised_at_the_end
    assert_raises(KeyError) { fibers { Carat::FiberPool.new(1).spawn { raise KeyError } } }
  end

  def test_a_job_that_cannot_start_takes_no_place
    pool = Carat::FiberPool.new(1)
    2.times { assert_raises(RuntimeError) { pool.spawn { nil } } } # there is no scheduler
    assert_equal 0, pool.running
  end
end
