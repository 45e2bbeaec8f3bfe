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

    def test_report_says_how_long_a_verdict_would_take
      assert_equal [12, 24], report(NARROW).values_at("rounds_needed", "budget_needed")
      noisy = Array.new(12) { |index| [100, index.even? ? 102 : 98] }

      # The interval is a little more than twice as wide as 1 %, for each side.
      assert_equal [49, 98], report(noisy).values_at("rounds_needed", "budget_needed")
    end

    private

    def verdict(*quantities)
      report(*quantities).fetch("verdict")
    end

    def report(*quantities)
      quantity = Lab::Compare::Quantity::ALL.first
      findings = quantities.map { |pairs| Lab::Compare::Finding.new(quantity, pairs, PROBABILITY) }
      rounds = quantities.first.map { [] }
      Lab::Compare::Report.new([], Struct.new(:path, :seconds, :connections).new, rounds, findings,
                               fewest: 12, passed: rounds.size * 2, interrupted: false, memory: {}).to_h
    end
  end
end
