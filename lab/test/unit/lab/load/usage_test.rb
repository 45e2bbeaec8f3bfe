# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/load/usage"

module Carat
  class LabUsageTest < Minitest::Test
    # A ProcessTree that uses a CPU second a look.
    Tree = Struct.new(:memory) do
      def cpu_seconds
        @looks = (@looks || 0) + 1
      end

      def pss = memory
      def pids = [1, 2]
    end

    def test_looks_are_spread_over_the_load
      usage = usage(seconds: 10)
      (0..100).each { |tenth| usage.tick(tenth / 10.0) }

      assert_equal 21, usage.points.size
      assert_equal 20, usage.cpu_seconds
      assert_equal 2, usage.points.first.processes
    end

    def test_last_look_replaces_one_just_before
      usage = usage(seconds: 10)
      [0, 0.5, 0.9].each { |seconds| usage.tick(seconds) }
      usage.finish(0.6)

      assert_equal [0, 0.6], usage.points.map(&:seconds)
      usage.finish(1.2)
      assert_equal [0, 0.6, 1.2], usage.points.map(&:seconds)
    end

    def test_what_follows_the_load_is_not_looked_at
      usage = usage(seconds: 1)
      [0, 0.5, 0.95, 1.02, 1.5].each { |seconds| usage.tick(seconds) }
      usage.finish(2)

      assert_equal [0, 0.5, 1.02], usage.points.map(&:seconds)
    end

    def test_unreadable_memory_is_unknown
      usage = usage(seconds: 1, memory: nil)
      usage.tick(0)

      assert_nil usage.pss
    end

    private

    def usage(seconds:, memory: 5)
      Lab::Load::Usage.new(Tree.new(memory), seconds)
    end
  end
end
