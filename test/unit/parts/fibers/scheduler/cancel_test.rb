# frozen_string_literal: true

require "test_helper"

module Scheduler
  # The end of all fibers that still wait.
  class CancelTest < Support::SchedulerTest
    also_under_stress

    def test_the_ensure_blocks_of_all_fibers_run
      ended = []
      cancel_behind do
        3.times { |number| go { hold { ended << number } } }
      end
      assert_equal [0, 1, 2], ended.sort
    end

    def test_a_fiber_may_cancel_the_others
      order = []
      fibers do
        go { hold { order << :other } }
        Fiber.scheduler.cancel
        order << :caller
      end
      assert_equal %i[other caller], order
    end

    def test_nothing_waits_any_more_afterwards
      cancel_behind do |scheduler|
        go do
          hold { assert_raises(Carat::Native::Cancelled) { sleep(0) } }
        ensure
          assert_raises(Carat::Native::Cancelled) { scheduler.fiber { nil } }
        end
      end
    end

    def test_a_fiber_that_goes_on_waiting_is_abandoned
      refused = 0
      _, printed = capture_io do
        cancel_behind do
          go { wait_whatever_comes { refused += 1 } }
        end
      end
      assert_operator refused, :>, 100
      assert_match(/abandoned.*wait_whatever_comes/m, printed)
    end

    def test_a_new_fiber_does_not_inherit_refusals_of_a_collected_one
      reached = 0
      _, printed = capture_io do
        cancel_behind do
          go { hold { 60.times { Fiber.new { wait_in_vain(400) && reached += 1 }.resume && GC.start } } }
        end
      end
      assert_equal [60, ""], [reached, printed]
    end

    def test_the_others_end_when_one_is_abandoned
      ended = []
      capture_io do
        cancel_behind do
          go { hold { ended << :first } }
          2.times { go { wait_whatever_comes { nil } } }
          go { hold { ended << :last } }
        end
      end
      assert_equal %i[first last], ended.sort
    end

    def test_a_killed_thread_ends_although_a_fiber_will_not
      ready = Queue.new
      thread = Thread.new do
        Carat.run do
          go { wait_whatever_comes { nil } }
          ready << true
          sleep
        end
      end
      _, printed = capture_io do
        ready.pop
        thread.kill
        in_thread { thread.join }
      end
      assert_includes printed, "abandoned"
    end

    # magnus panics when a thread is killed while it makes an exception.
    def test_a_thread_may_be_killed_while_an_exception_is_made
      pid = fork do
        20.times do
          thread = Thread.new { in_vain(Carat::Scheduler.new) }
          sleep(0.001)
          thread.kill.join
        end
        exit!(true)
      end
      assert_predicate Process.wait2(pid)[1], :success?
    end

    def test_a_fiber_that_has_resumed_it_is_abandoned_with_it
      _, printed = capture_io do
        cancel_behind do
          go { Fiber.new { wait_whatever_comes { nil } }.resume }
        end
      end
      assert_includes printed, "abandoned"
    end

    def test_an_ensure_block_may_try_many_times
      attempts = 0
      cancel_behind do
        go { hold { 50.times { try_to_wait && attempts += 1 } } }
      end
      assert_equal 50, attempts
    end

    private

    # Waits, although the scheduler refuses.
    def wait_in_vain(times)
      times.times { assert_raises(Carat::Native::Cancelled) { sleep(1) } }
    end

    # Runs the block in a thread with a scheduler, then cancels all waits.
    def cancel_behind
      in_thread do
        scheduler = Carat::Scheduler.new
        Fiber.set_scheduler(scheduler)
        around { yield scheduler }
        scheduler.cancel
        assert_equal 0, scheduler.waiting
      end
    end

    # Waits until it is cancelled, then calls the block.
    def hold
      sleep
    rescue Carat::Native::Cancelled
      yield
    end

    def wait_whatever_comes
      loop do
        sleep(0.001)
      rescue Exception # rubocop:disable Lint/RescueException -- the subject
        yield
      end
    end

    # Repeats a wait that the scheduler refuses.
    def in_vain(scheduler)
      scheduler.cancel
      loop do
        scheduler.kernel_sleep(0)
      rescue Carat::Native::Cancelled
        nil
      end
    end

    def try_to_wait
      sleep(0)
    rescue Carat::Native::Cancelled
      true
    end
  end
end
