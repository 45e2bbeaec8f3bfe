# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/units"

module Carat
  class UnitsTest < Minitest::Test
    def test_amounts_have_the_largest_fitting_unit
      words = [0, 1023, 1536, 256 << 20, 3 << 40, 5000 << 40].map { |number| CLI::Units.bytes(number) }

      assert_equal ["0 B", "1023 B", "1.5 KiB", "256 MiB", "3 TiB", "5000 TiB"], words
    end
  end
end
