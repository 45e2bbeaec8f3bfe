# frozen_string_literal: true

require "minitest/autorun"
require "carat/log/counted"

module Carat
  class CountedTest < Minitest::Test
    def test_one_is_singular_and_everything_else_plural
      assert_equal ["0 workers", "1 worker", "2 workers"], [0, 1, 2].map { |number| Log::Counted.of(number, "worker") }
    end
  end
end
