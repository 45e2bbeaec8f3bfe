# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchSlopeTest < Minitest::Test
  def test_points_on_a_line_have_its_slope_and_no_doubt
    slope = Bench::Slope.of([[[0, 1], [1, 3], [2, 5], [4, 9]]])

    assert_in_delta 2.0, slope.per_x
    assert_in_delta 0.0, slope.margin
  end

  def test_each_series_has_a_base_of_its_own
    slope = Bench::Slope.of([[[0, 0], [1, 1]], [[10, 100], [11, 101]]])

    assert_in_delta 1.0, slope.per_x
  end

  # Errors that alternate take nothing off. t(4) = 2.776, squares = 48/35, spread = 35/2.
  def test_the_interval_is_that_of_the_textbook_for_independent_errors
    slope = Bench::Slope.of([[[1, 1], [2, 0], [3, 1], [4, 0], [5, 1], [6, 0]]])

    assert_in_delta(-3.0 / 35, slope.per_x)
    assert_in_delta 0.3886, slope.margin, 0.01
  end

  def test_readings_that_resemble_their_neighbors_say_less
    random = Random.new(1)
    noise = Array.new(400) { random.rand - 0.5 }
    walk = noise.each_with_object([0.0]) { |step, levels| levels << ((0.9 * levels.last) + step) }

    assert_operator margin(walk), :>, 2 * margin(walk.shuffle(random: random))
  end

  def test_the_interval_holds_the_true_slope_nineteen_times_of_twenty
    random = Random.new(2)
    held = Array.new(400) do
      slope = Bench::Slope.of([Array.new(60) { |x| [x, (0.5 * x) + Array.new(12) { random.rand }.sum] }])
      (slope.per_x - 0.5).abs <= slope.margin
    end

    assert_in_delta 0.95, held.count(true) / 400.0, 0.03
  end

  def test_too_few_points_have_no_interval_and_one_point_has_no_slope
    assert_nil Bench::Slope.of([[[0, 0], [1, 1], [2, 0]]]).margin
    assert_nil Bench::Slope.of([[[0, 0]]])
    refute Bench::Slope.of([[[0, 0], [1, 1], [2, 0]]]).above?(-10)
  end

  def test_a_slope_is_above_a_limit_when_its_interval_is
    slope = Bench::Slope.new(3.0, 1.0)

    assert slope.above?(1.9)
    refute slope.above?(2.1)
  end

  private

  def margin(values) = Bench::Slope.of([values.each_with_index.map { |value, index| [index, value] }]).margin
end
