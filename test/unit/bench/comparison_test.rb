# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/bound"
require_relative "../../../bench/lib/comparison"
require_relative "../../../bench/lib/roster"
require_relative "../../../bench/lib/series"

class BenchComparisonTest < Minitest::Test
  CARAT, PUMA = Bench::Roster.named(%w[carat puma])
  FIGURES = { "carat" => Bench::Series.new([10, 30]), "puma" => Bench::Series.new([10, 20]) }.freeze

  def test_rounds_are_compared_with_each_other
    comparison = Bench::Comparison.new(base: "puma", figure: :rate)

    assert_equal ["x puma", "1.25"], [comparison.heading, comparison.cell(CARAT, FIGURES)]
  end

  def test_a_bound_is_asked_of_carat_and_only_where_it_is_judged
    comparison = Bench::Comparison.new(base: "puma", figure: :pss, bound: Bench::Bound.below(1))

    assert_equal ["PSS x puma", "**1.25 (< 1) missed**"], [comparison.heading, comparison.cell(CARAT, FIGURES)]
    assert_equal "1.00", comparison.cell(PUMA, FIGURES)
    assert_equal "1.25", comparison.cell(CARAT, FIGURES, judged: false)
  end

  def test_without_the_other_server_there_is_no_ratio
    assert_equal "-", Bench::Comparison.new(base: "hyper", figure: :rate).cell(CARAT, FIGURES)
  end
end
