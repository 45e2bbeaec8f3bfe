# frozen_string_literal: true

require "test_helper"
require "timeout"

module Scheduler
  # What `Timeout.timeout` does to a fiber that waits.
  class TimeoutTest < Support::SchedulerTest
    also_under_stress

    def test_a_timeout_of_a_condition_variable_takes_the_mutex_again
      mutex = Mutex.new
      fibers do
        mutex.synchronize do
          assert_raises(Timeout::Error) { Timeout.timeout(0.001) { ConditionVariable.new.wait(mutex) } }
          assert_predicate mutex, :owned?
        end
      end
      refute_predicate mutex, :locked?
    end

    def test_a_timeout_of_a_condition_variable_waits_for_the_mutex
      mutex = Mutex.new
      order = []
      fibers do
        go do
          Timeout.timeout(0.001) { mutex.synchronize { mutex.sleep } }
        rescue Timeout::Error, ThreadError => e
          order << e.class
        end
        mutex.synchronize { sleep(0.01) && order << :owner }
      end
      assert_equal [:owner, Timeout::Error], order
    end

    def test_a_timeout_around_a_join_with_a_time_is_a_timeout
      thread = Thread.new { sleep }
      fibers { assert_raises(Timeout::Error) { Timeout.timeout(0.001) { thread.join(1000) } } }
    ensure
      thread.kill
    end

    def test_timeout_interrupts_a_wait
      error = fibers { assert_raises(Timeout::Error) { Timeout.timeout(0.001) { sleep } } }
      assert_equal "execution expired", error.message
    end

    def test_timeout_returns_the_value_of_its_block_and_leaves_no_timer
      assert_equal 3, fibers { Timeout.timeout(1000) { sleep(0.001) && 3 } }
    end

    def test_the_inner_of_two_timeouts_comes_first
      order = []
      fibers do
        Timeout.timeout(1000) do
          Timeout.timeout(0.001, KeyError) { sleep }
        rescue KeyError
          order << :inner
        end
      end
      assert_equal [:inner], order
    end

    def test_the_outer_of_two_timeouts_ends_the_inner_block_too
      order = []
      fibers do
        Timeout.timeout(0.001, KeyError) do
          Timeout.timeout(1000, IndexError) { sleep }
        ensure
          order << :cleaned
        end
      rescue KeyError
        order << :outer
      end
      assert_equal %i[cleaned outer], order
    end

    # The fiber's timeout expires, and it gets the lock before it runs again.
    def test_a_timeout_does_not_lose_a_lock_that_the_fiber_was_given
      mutex = Mutex.new
      last = nil
      fibers do
        mutex.lock
        go { assert_raises(Timeout::Error) { Timeout.timeout(0.2) { mutex.synchronize { sleep } } } }
        go { last = mutex.synchronize { :taken } }
        go { spin(0.3) if sleep(0) }
        sleep(0.1)
        mutex.unlock
      end
      assert_equal :taken, last
    end
  end

  # Tests of counts and times, which mean nothing under GC.stress.
  class TimeoutsWithoutStressTest < Support::SchedulerTest
    def test_twenty_five_thousand_timers_may_be_cancelled
      count = fibers do
        25_000.times { Timeout.timeout(1000) { nil } }
        waiting
      end
      assert_equal 0, count
    end
  end
end
