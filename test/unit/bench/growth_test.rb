# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/growth"

class BenchGrowthTest < Minitest::Test
  PIDS = { "edge" => [1], "worker" => [2, 3] }.freeze
  BEFORE = { 1 => 100, 2 => 200, 3 => 300 }.freeze

  def test_the_peak_counts_and_not_the_last_sample
    growth = Bench::Growth.new(PIDS, BEFORE).add({ 1 => 170, 2 => 200, 3 => 300 }).add({ 1 => 120, 2 => 200, 3 => 300 })

    assert_equal [70, 2], [growth.of("edge"), growth.samples]
  end

  def test_of_several_processes_the_one_that_grew_most_counts
    growth = Bench::Growth.new(PIDS, BEFORE).add({ 1 => 100, 2 => 205, 3 => 330 })

    assert_equal 30, growth.of("worker")
  end

  def test_a_process_that_shrinks_or_ends_has_not_grown
    growth = Bench::Growth.new(PIDS, BEFORE).add({ 1 => 50 })

    assert_equal [0, 0, nil], [growth.of("edge"), growth.of("worker"), growth.of("mold")]
  end
end
