# frozen_string_literal: true

require "test_helper"

module Scheduler
  # How long fibers run without a wait.
  class LongRunsTest < Support::SchedulerTest
    also_under_stress

    # Longer than any run without computing, even on a busy machine.
    NEVER = 5

    def test_the_longest_run_is_measured
      longest = fibers do
        go { spin(0.02) && sleep(0) && spin(0.01) }
        scheduler.longest_run
      end
      assert_operator longest, :>=, 0.02
    end

    def test_the_longest_run_includes_the_one_that_runs
      assert_operator(fibers { spin(0.02) && scheduler.longest_run }, :>=, 0.02)
    end

    def test_a_thread_s_own_work_between_its_fibers_is_none
      longest = in_thread do
        Fiber.set_scheduler(Carat::Scheduler.new)
        scheduler = Fiber.scheduler
        Fiber.schedule { sleep(0) }
        spin(0.5)
        Fiber.set_scheduler(nil)
        scheduler.longest_run
      end
      assert_operator longest, :<, 0.4
    end

    def test_a_long_run_is_reported_before_the_others_go_on
      order = []
      culprit = nil
      fibers do
        scheduler.watch_runs(0.02) { |fiber, seconds| order << [fiber, seconds > 0.02] }
        culprit = go { sleep(0) && spin(0.03) && sleep(0) }
        go { sleep(0) && order << :other }
      end
      assert_includes order.take_while { |entry| entry != :other }, [culprit, true]
      assert_includes order, :other
    end

    def test_a_run_that_ends_with_its_fiber_is_reported
      reported = []
      culprit = nil
      fibers do
        scheduler.watch_runs(0.02) { |fiber, _| reported << fiber }
        culprit = go { spin(0.03) }
      end
      assert_includes reported, culprit
    end

    def test_short_runs_are_not_reported
      reported = []
      fibers do
        scheduler.watch_runs(NEVER) { |fiber, _| reported << fiber }
        3.times { go { sleep(0.001) && scheduler.end_run } }
      end
      assert_empty reported
    end

    def test_a_run_is_ended_between_two_requests
      reported = []
      mine = nil
      fibers do
        scheduler.watch_runs(0.02) { |fiber, _| reported << [fiber, Fiber.current] }
        go do
          mine = Fiber.current
          spin(0.03) && scheduler.end_run
          reported << :next_request
        end
      end
      assert_includes reported.take_while { |entry| entry != :next_request }, [mine, mine]
    end

    def test_what_an_ended_run_took_is_not_counted_again
      longest = fibers do
        4.times { spin(0.3) && scheduler.end_run }
        scheduler.longest_run
      end
      assert_operator longest, :<, 1
    end

    def test_an_error_of_the_watch_is_printed_and_breaks_nothing
      ended = 0
      _, printed = capture_io do
        fibers do
          scheduler.watch_runs(0.002) { raise NotImplementedError, "no such request" }
          2.times { go { spin(0.003) && sleep(0) && ended += 1 } }
        end
      end
      assert_equal 2, ended
      assert_includes printed, "no such request"
    end

    def test_the_watch_may_wait_and_its_own_runs_are_not_reported
      reported = []
      culprit = nil
      fibers do
        scheduler.watch_runs(0.02) { |fiber, _| sleep(0.001) && spin(0.03) && reported << fiber }
        culprit = go { spin(0.03) }
      end
      assert_includes reported, culprit
    end
  end

  # Tests of counts and times, which mean nothing under GC.stress.
  class LongRunsWithoutStressTest < Support::SchedulerTest
    def test_waiting_is_no_run
      longest = fibers do
        go { sleep(0.6) }
        sleep(0.5)
        scheduler.longest_run
      end
      assert_operator longest, :<, 0.4
    end
  end
end
