# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchBusyLoopsTest < Minitest::Test
  def test_the_loops_run_beside_the_block_and_end_with_it
    running = Bench::BusyLoops.beside(2) { children }

    assert_equal [2, 0], [running.size, children.size]
  end

  private

  def children = Bench::ProcFs.stats.select { |stat| stat.parent == Process.pid }
end
