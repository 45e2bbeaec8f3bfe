# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/compare/finding"
require "carat/lab/compare/quantity"
require "carat/lab/compare/report"

module Carat
  class CompareReportTest < Minitest::Test
    PROBABILITY = 0.001
    NARROW = [[100, 100.1]] * 12
    # As 0.08 to 18.7 was once called equal.
    WIDE = Array.new(12) { |index| index.even? ? [100, 1870] : [100, 8] }

    def test_equal_needs_narrow_intervals
      assert_equal "equal", verdict(NARROW)
      assert_equal "not known", verdict(NARROW, WIDE)
      assert_equal "different", verdict(WIDE, [[100, 120]] * 12)
      assert_nil verdict([[100, 100]] * 3)
    end

    private

    def verdict(*quantities)
      quantity = Lab::Compare::Quantity::ALL.first
      findings = quantities.map { |pairs| Lab::Compare::Finding.new(quantity, pairs, PROBABILITY) }
      Lab::Compare::Report.new([], Struct.new(:path, :seconds, :connections).new, [], findings,
                               fewest: 12, interrupted: false, memory: {}).to_h.fetch("verdict")
    end
  end
end
