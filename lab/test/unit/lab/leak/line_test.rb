# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/leak/line"

module Carat
  class LineTest < Minitest::Test
    XS = (0..10).map { |round| round * 10_007 }.freeze
    SERIES = 200

    def test_slope_of_a_straight_line_is_exact
      line = line(XS.map { |x| 5_000_000 + (17 * x) })

      assert_equal 17.0, line.slope
      assert_equal [17.0, 17.0], line.interval
      assert_equal 0.0, line.margin
      assert_predicate line, :rising?
    end

    def test_one_disturbed_round_changes_little
      ys = XS.map { |x| 17 * x }
      ys[4] += 50_000_000

      assert_in_delta 17, line(ys).slope, 0.01
    end

    def test_interval_covers_the_slope_in_95_of_100_series
      covered = (1..SERIES).count do |seed|
        first, last = line(noisy(3.0, 20_000, seed)).interval
        first <= 3.0 && last >= 3.0
      end

      assert_operator covered, :>=, SERIES * 0.9
    end

    def test_noise_alone_rarely_rises
      rising = (1..SERIES).count { |seed| line(noisy(0.0, 20_000, seed)).rising? }

      assert_operator rising, :<=, SERIES * 0.06
    end

    def test_constant_measurement_does_not_rise
      refute_predicate line(XS.map { 42 }), :rising?
    end

    def test_too_few_points_and_unequal_numbers_of_them_are_refused
      assert_raises(ArgumentError) { Lab::Leak::Line.new([1, 2, 3, 4], [1, 2, 3, 4]) }
      assert_raises(ArgumentError) { Lab::Leak::Line.new(XS, [1]) }
    end

    private

    def line(ys)
      Lab::Leak::Line.new(XS, ys)
    end

    def noisy(slope, amplitude, seed)
      random = Random.new(seed)
      XS.map { |x| (slope * x) + random.rand(-amplitude..amplitude) }
    end
  end
end
