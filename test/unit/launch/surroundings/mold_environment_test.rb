# frozen_string_literal: true

require "minitest/autorun"
require "carat"
require "carat/launch/surroundings/mold_environment"

module Carat
  class MoldEnvironmentTest < Minitest::Test
    First = Struct.new(:configuration, :environment) do
      def variables = { "A" => environment.fetch("HOME"), "B" => "1" }
    end
    Second = Struct.new(:configuration, :environment) do
      def variables = { "B" => configuration.fetch(:gc) }
    end

    def test_later_parts_win_over_earlier_ones
      parts = [First, Second]
      variables = Launch::MoldEnvironment.new({ gc: "frugal" }, environment: { "HOME" => "/root" }, parts:).to_h

      assert_equal({ "A" => "/root", "B" => "frugal" }, variables)
    end
  end
end
