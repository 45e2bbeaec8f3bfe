# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchHandshakesTest < Minitest::Test
  def test_the_rate_is_that_of_complete_connections
    report = Bench::Handshakes::Report.parse(%({"connections": 300, "failed": 2, "resumed": 296, "seconds": 1.5}))

    assert_in_delta 200, report.rate
    assert_equal [296, 2], [report.resumed, report.failed]
  end
end
