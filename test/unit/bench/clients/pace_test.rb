# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchPaceTest < Minitest::Test
  PACE = Bench::Pace.new(1000, 10.0)

  def test_a_client_may_move_what_the_time_allows_and_no_more
    assert_equal [0, 500, 200, 0], [PACE.allowance(0, 10.0), PACE.allowance(0, 10.5), PACE.allowance(300, 10.5),
                                    PACE.allowance(600, 10.5)]
  end

  def test_a_client_that_is_ahead_waits_and_one_that_is_behind_does_not
    assert_in_delta 0.25, PACE.delay(500, 10.25)
    assert_equal 0, PACE.delay(500, 11.0)
  end

  def test_steps_are_neither_too_short_nor_too_long
    assert_equal [0.002, 0.05], ([1_000_000_000, 1000].map { |rate| Bench::Pace.new(rate, 0).step_seconds })
    assert_in_delta Bench::Pace::STEP_BYTES, Bench::Pace.new(10_000_000, 0).step_bytes, 1
  end

  def test_without_a_rate_there_is_no_waiting
    pace = Bench::Pace.new(nil, 0)

    assert_equal [nil, 0], [pace.step_seconds, pace.delay(1 << 30, 0)]
  end
end
