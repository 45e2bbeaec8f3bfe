# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/steady"

class BenchSteadyTest < Minitest::Test
  REPORT = Bench::Steady::Report.parse(<<~JSON)
    {"begun": 1000.0, "window_seconds": 0.1, "statuses": {"200": 5, "502": 1, "lost": 2}, "workers": {"42": 6},
     "windows": [{"requests": 1, "failed": 0, "latencies": [[10, 1]]}, {"requests": 3, "failed": 2, "latencies": [[20, 3]]},
                 {"requests": 4, "failed": 1, "latencies": [[30, 4]]}]}
  JSON

  def test_what_is_not_a_good_answer_has_failed
    assert_equal [8, 3], [REPORT.requests, REPORT.failed]
  end

  def test_a_span_takes_in_the_windows_that_it_touches
    assert_equal 7, REPORT.within(1000.15..1000.25).requests
    assert_equal 1, REPORT.within(999.0..1000.05).requests
    assert_equal 0, REPORT.within(1001.0..1002.0).requests
    assert_in_delta 1000.3, REPORT.ended
  end
end
