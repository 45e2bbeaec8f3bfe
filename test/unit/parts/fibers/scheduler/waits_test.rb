# frozen_string_literal: true

require "test_helper"
require "monitor"

module Scheduler
  # The means by which threads wait for each other, and for time.
  class WaitsTest < Support::SchedulerTest
    also_under_stress

    def test_sleep_returns_whole_seconds_and_takes_any_number
      slept = fibers { [sleep(0), sleep(0.001), sleep(1r / 1000), sleep(0.0)] }
      assert_equal [Integer], slept.map(&:class).uniq
    end

    def test_sleep_refuses_what_is_no_time
      fibers do
        assert_raises(ArgumentError) { sleep(-1) }
        assert_raises(RangeError) { sleep(Float::NAN) }
        assert_raises(TypeError) { sleep("1") }
      end
    end

    def test_a_mutex_is_handed_from_fiber_to_fiber
      mutex = Mutex.new
      order = []
      fibers do
        mutex.lock
        3.times { |number| go { mutex.synchronize { order << number } } }
        order << :owner
        mutex.unlock
      end
      assert_equal [:owner, 0, 1, 2], order
    end

    def test_a_condition_variable_gives_up_after_its_time
      mutex = Mutex.new
      monitor = Monitor.new
      fibers do
        assert_nil(mutex.synchronize { ConditionVariable.new.wait(mutex, 0.001) })
        assert_nil(mutex.synchronize { mutex.sleep(0) })
        assert_same(false, monitor.synchronize { monitor.new_cond.wait(0.001) })
      end
      refute_predicate mutex, :locked?
    end

    def test_a_condition_variable_that_is_signaled_in_time_returns_true
      monitor = Monitor.new
      condition = monitor.new_cond
      fibers do
        go { assert_same(true, monitor.synchronize { condition.wait(1000) }) }
        monitor.synchronize { condition.signal }
      end
    end

    def test_a_mutex_is_taken_again_when_its_sleep_ends_by_an_error
      mutex = Mutex.new
      fibers do
        sleeper = go do
          mutex.synchronize { assert_raises(KeyError) { mutex.sleep } && assert_predicate(mutex, :owned?) }
        end
        sleeper.raise(KeyError)
      end
      refute_predicate mutex, :locked?
    end

    # Otherwise a fiber that runs at the right moment gets what others wait for, such as a connection of a pool.
    def test_who_waits_for_a_queue_comes_before_those_that_come_later
      queue = Queue.new
      order = []
      fibers do
        go { order << [:waited, queue.pop] }
        go { sleep(0) && queue << 1 }
        go { sleep(0) && order << [:came, queue.pop] }
        sleep(0.001) && queue << 2
      end
      assert_equal [[:waited, 1], [:came, 2]], order
    end

    def test_fibers_that_wake_each_other_do_not_keep_the_rest_waiting
      here = Queue.new
      there = Queue.new
      reader, writer = IO.pipe
      over = false
      fibers do
        go { there << here.pop until over }
        go { here << there.pop until over }
        go { over = reader.readpartial(1) && here << 0 && there << 0 }
        go { sleep(0.001) && writer.write("x") }
        here << 1
      end
      assert over
    end

    def test_a_queue_is_filled_by_another_thread
      queue = Queue.new
      assert_equal 7, fibers { Thread.new { queue << 7 } && queue.pop }
    end

    def test_a_full_queue_makes_the_writer_wait
      queue = SizedQueue.new(1)
      taken = []
      fibers do
        go { 3.times { |number| queue << number } }
        3.times { taken << queue.pop }
      end
      assert_equal [0, 1, 2], taken
    end

    def test_a_queue_gives_up_after_its_time
      skip "Queue#pop takes no time before Ruby 3.2" if RUBY_VERSION < "3.2"
      assert_nil(fibers { Queue.new.pop(timeout: 0.001) })
    end

    def test_a_thread_is_joined_while_others_run
      gate = Queue.new
      value = fibers do
        thread = Thread.new { gate.pop }
        go { gate << 5 }
        thread.value
      end
      assert_equal 5, value
    end

    def test_join_gives_up_after_its_time
      thread = Thread.new { sleep }
      assert_nil(fibers { thread.join(0.001) })
      assert_nil(fibers { thread.join(0) })
    ensure
      thread.kill
    end

    def test_join_takes_a_time_that_never_comes
      thread = Thread.new { :over }
      assert_same(thread, fibers { thread.join(Float::INFINITY) })
    end

    def test_join_raises_the_error_of_the_thread
      thread = Thread.new { raise KeyError }
      thread.report_on_exception = false
      fibers { assert_raises(KeyError) { thread.join(1000) } }
    end

    def test_a_monitor_is_entered_by_one_fiber_at_a_time
      monitor = Monitor.new
      order = []
      fibers do
        go { monitor.synchronize { monitor.synchronize { order << 1 && sleep(0.001) } && order << 2 } }
        monitor.synchronize { order << 3 }
      end
      assert_equal [1, 2, 3], order
    end

    def test_an_enumerator_may_wait_inside
      numbers = Enumerator.new { |out| 3.times { |number| sleep(0.001) && out << number } }
      assert_equal([0, 1, 2], fibers { Array.new(3) { numbers.next } })
    end
  end

  # Tests of counts and times, which mean nothing under GC.stress.
  class WaitsWithoutStressTest < Support::SchedulerTest
    # If milliseconds were rounded up, there would be a hundred at most. A busy machine may need several attempts.
    def test_a_sleep_of_less_than_a_millisecond_is_not_rounded_up
      enough = 20.times.any? do
        sleeps = 0
        fibers do
          over = false
          go { sleep(0.1) && over = true }
          sleep(0.0001) && sleeps += 1 until over
        end
        sleeps > 120
      end
      assert enough
    end

    def test_sleeping_fibers_wake_in_the_order_of_their_times
      order = []
      fibers do
        start = now
        [0.5, 0.1, 0.3].each { |time| go { order << time if sleep([start + time - now, 0].max) } }
      end
      assert_equal [0.1, 0.3, 0.5], order
    end
  end
end
