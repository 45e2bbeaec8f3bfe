# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchStatisticsTest < Minitest::Test
  def test_the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle
    assert_equal 2, Bench::Statistics.median([3, 1, 2])
    assert_in_delta 2.5, Bench::Statistics.median([4, 1, 2, 3])
  end

  def test_a_ratio_compares_the_same_rounds
    assert_in_delta 8.0, Bench::Statistics.ratio([80, 8, 60], [10, 1, 10])
  end

  def test_a_percentile_is_a_value_that_occurred
    lists = [[*1..100], [*1..10].reverse, [7], []]

    assert_equal [99, 10, 7, nil], lists.map { |list| Bench::Statistics.percentile(list, 99) }
  end

  def test_a_line_minimizes_the_squares_of_its_errors
    assert_equal [30.0, 1.7], line([1, 31.7], [2, 33.4], [10, 47.0])
    assert_equal [0.0, 1.0], line([-1, -1], [0, 1], [0, -1], [1, 1])
  end

  private

  def line(*points) = Bench::Statistics.line(points).map { |figure| figure.round(6) }
end
