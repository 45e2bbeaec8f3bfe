# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchWrkTest < Minitest::Test
  def test_the_report_is_read_in_seconds_and_milliseconds
    wrk = Bench::Wrk.parse("Requests/sec: 1\nrequests=3000 bytes=400000 duration=1500000 p50=290 p99=3060 errors=2\n")

    assert_in_delta 2000.0, wrk.rate
    assert_equal [400_000, 0.29, 3.06, 2], [wrk.bytes, wrk.p50_ms, wrk.p99_ms, wrk.errors]
  end
end
