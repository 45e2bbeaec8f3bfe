# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchLatenciesTest < Minitest::Test
  def test_percentiles_are_counted_over_all_windows
    sum = Bench::Latencies.sum([latencies([2000, 50]), latencies([1000, 49], [2000, 0], [90_000, 1])])

    assert_equal 100, sum.requests
    assert_equal [1, 2, 90], ([49, 99, 100].map { |percent| sum.percentile(percent) })
    assert_nil Bench::Latencies.sum([]).percentile(99)
  end

  private

  def latencies(*pairs) = Bench::Latencies.new(requests: pairs.sum(&:last), failed: 0, latencies: pairs)
end
