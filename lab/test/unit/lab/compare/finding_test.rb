# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/compare/finding"
require "carat/lab/compare/quantity"

module Carat
  class FindingTest < Minitest::Test
    PROBABILITY = 0.001

    def test_medians_and_the_ratio_are_reported
      report = finding(:p50, Array.new(12) { |index| [0.1 + (index * 0.001), 0.2 + (index * 0.002)] }).report

      assert_equal ["p50", 0.1055, 0.211, 2.0, [2.0, 2.0], true],
                   report.values_at("name", "a", "b", "ratio", "interval", "differs")
    end

    def test_too_few_rounds_have_no_interval_and_no_judgment
      finding = finding(:p50, [[1, 2]] * 5)

      assert_equal [2.0, nil, nil], finding.report.values_at("ratio", "interval", "differs")
      refute_predicate finding, :settled?
    end

    def test_unknown_quantity_is_no_obstacle
      finding = finding(:pss_at_end, [[nil, nil]] * 12)

      assert_equal [nil, nil, nil, nil, nil], finding.report.values_at("a", "b", "ratio", "interval", "differs")
      refute_predicate finding, :measured?
      assert_predicate finding, :settled?
    end

    def test_failures_differ_when_only_one_set_up_has_them
      finding = finding(:failed_share, Array.new(12) { |index| [0.0, 0.001 + (index * 0.0001)] })

      assert_equal [true, nil], finding.report.values_at("differs", "ratio")
      assert_operator finding.report.fetch("interval").first, :>=, 0.001
    end

    def test_set_ups_without_failures_are_equal
      finding = finding(:failed_share, [[0.0, 0.0]] * 12)

      assert_equal [false, [0.0, 0.0]], finding.report.values_at("differs", "interval")
      assert_predicate finding, :settled?
    end

    def test_narrow_interval_is_settled_and_a_wide_one_is_not
      assert_predicate finding(:requests_per_second, [[100, 100.1]] * 12), :settled?
      refute_predicate finding(:requests_per_second, Array.new(12) { |index| [100, index.even? ? 110 : 90] }), :settled?
    end

    private

    def finding(name, pairs)
      quantity = Lab::Compare::Quantity::ALL.find { |each| each.name == name }
      Lab::Compare::Finding.new(quantity, pairs, PROBABILITY)
    end
  end
end
