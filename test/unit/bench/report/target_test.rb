# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchTargetTest < Minitest::Test
  def test_a_figure_that_misses_its_target_is_marked
    assert_equal "1.00 (<= 1)", Bench::Target.at_most(1).cell(1.0, "1.00")
    assert_equal "**1.01 (<= 1) missed**", Bench::Target.at_most(1).cell(1.01, "1.01")
    assert_equal "0.80 (>= 0.8)", Bench::Target.at_least(0.8).cell(0.8, "0.80")
    assert_equal "**0.79 (>= 0.8) missed**", Bench::Target.at_least(0.8).cell(0.79, "0.79")
  end
end
