# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/line_fit"

class BenchLineFitTest < Minitest::Test
  def test_points_on_a_line_give_that_line
    assert_equal [30.0, 1.7], fit([1, 31.7], [2, 33.4], [10, 47.0])
  end

  def test_errors_are_spread_by_their_squares
    assert_equal [0.0, 1.0], fit([-1, -1], [0, 1], [0, -1], [1, 1])
  end

  private

  def fit(*points)
    Bench::LineFit.of(points).to_a.map { |figure| figure.round(6) }
  end
end
