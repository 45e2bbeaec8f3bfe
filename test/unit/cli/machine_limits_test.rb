# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/machine_limits"

module Carat
  class MachineLimitsTest < Minitest::Test
    def test_edge_says_how_much_memory_the_machine_has
      kib = File.read("/proc/meminfo")[/^MemTotal:\s+(\d+)/, 1].to_i

      assert_equal kib * 1024, limits.machine_memory
    end

    def test_container_has_a_limit_or_none
      limit = limits.container_memory

      assert limit.nil? || limit.positive?
    end

    def test_without_an_edge_there_are_no_limits
      assert_nil CLI::MachineLimits.read(edge: nil)
      assert_nil CLI::MachineLimits.read(edge: "/nowhere/carat-edge")
      assert_nil CLI::MachineLimits.read(edge: "/bin/false")
    end

    private

    def limits
      CLI::MachineLimits.read
    end
  end
end
