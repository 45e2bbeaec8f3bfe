# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchSteadyLoadTest < Minitest::Test
  REPORT = Bench::SteadyLoad::Report.parse(<<~JSON)
    {"started": 1000.0, "seconds": 0.3, "window_seconds": 0.1, "statuses": {"200": 5, "502": 1, "lost": 2}, "workers": {"42": 6},
     "windows": [{"requests": 1, "failed": 0, "latencies": [[1000, 1]]},
                 {"requests": 3, "failed": 2, "latencies": [[2000, 3]]},
                 {"requests": 4, "failed": 1, "latencies": [[3000, 4]]}]}
  JSON

  def test_a_request_without_a_200_has_failed
    assert_equal [8, 3, { 42 => 6 }], [REPORT.requests, REPORT.failed, REPORT.workers]
  end

  def test_a_span_covers_the_windows_that_it_touches
    assert_equal [7, 1, 0], [1000.15..1000.25, 999.0..1000.05, 1001.0..1002.0].map { |span|
      REPORT.within(span).requests
    }
    assert_in_delta 1000.3, REPORT.ended
    assert_equal [3, 3, 2], [REPORT.max_ms, REPORT.p99_ms, REPORT.p99_ms(1000.0..1000.15)]
  end
end
