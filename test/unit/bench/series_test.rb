# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/series"

class BenchSeriesTest < Minitest::Test
  def test_the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle
    assert_equal 2, Bench::Series.new([3, 1, 2]).median
    assert_in_delta 2.5, Bench::Series.new([4, 1, 2, 3]).median
  end

  def test_a_ratio_compares_the_same_rounds
    slow_second_round = Bench::Series.new([80, 8, 60])
    base = Bench::Series.new([10, 1, 10])

    assert_in_delta 8.0, slow_second_round.ratio(base)
  end

  def test_a_percentile_is_a_value_that_occurred
    lists = [[*1..100], [*1..10].reverse, [7], []]

    assert_equal [99, 10, 7, nil], lists.map { |list| Bench::Series.new(list).percentile(99) }
  end
end
