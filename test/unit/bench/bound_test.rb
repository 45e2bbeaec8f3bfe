# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/bound"
require_relative "../../../bench/lib/roster"

class BenchBoundTest < Minitest::Test
  def test_a_figure_that_misses_its_bound_is_marked
    assert_equal "1.00 (<= 1)", Bench::Bound.at_most(1).cell(1.0, "1.00")
    assert_equal "**1.01 (<= 1) missed**", Bench::Bound.at_most(1).cell(1.01, "1.01")
    assert_equal "0.80 (>= 0.8)", Bench::Bound.at_least(0.8).cell(0.8, "0.80")
    assert_equal "**0.79 (>= 0.8) missed**", Bench::Bound.at_least(0.8).cell(0.79, "0.79")
  end

  def test_bounds_are_asked_of_carat_alone
    carat, puma = Bench::Roster.named(%w[carat puma])

    assert_equal ["**2 (<= 1) missed**", 2], [carat, puma].map { |peer| peer.judged(Bench::Bound.at_most(1), 2) }
  end
end
