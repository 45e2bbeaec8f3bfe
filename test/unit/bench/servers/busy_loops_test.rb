# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchBusyLoopsTest < Minitest::Test
  def test_the_loops_run_beside_the_block_and_end_with_it
    others = children
    running = Bench::BusyLoops.beside(2) { children - others }

    assert_equal [2, []], [running.size, children & running]
  end

  private

  # Other tests may have started daemons.
  def children = Bench::ProcFs.stats.select { |stat| stat.parent == Process.pid }.map(&:pid)
end
