# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/compare/limit"

module Carat
  class LimitTest < Minitest::Test
    def test_round_that_would_exceed_the_seconds_is_not_begun
      limit = Lab::Compare::Limit.new(100, nil)

      refute limit.reached?(9, 90.0)
      assert limit.reached?(9, 91.0)
    end

    def test_rounds_end_a_comparison_before_the_seconds
      limit = Lab::Compare::Limit.new(100, 3)

      refute limit.reached?(2, 2.0)
      assert limit.reached?(3, 3.0)
    end

    def test_share_is_that_of_what_ends_first
      assert_in_delta 0.5, Lab::Compare::Limit.new(100, nil).share(1, 50.0)
      assert_in_delta 0.75, Lab::Compare::Limit.new(100, 4).share(3, 50.0)
      assert_in_delta 1.0, Lab::Compare::Limit.new(100, nil).share(1, 150.0)
    end
  end
end
