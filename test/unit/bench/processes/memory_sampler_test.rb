# frozen_string_literal: true

require "minitest/autorun"
require "io/wait"
require_relative "../../../../bench/lib/bench"

class BenchMemorySamplerTest < Minitest::Test
  MEGABYTE = 1 << 20
  PIDS = { "edge" => [1], "worker" => [2, 3] }.freeze

  def test_the_peak_counts_and_not_the_last_sample
    sampler = sampler({ 1 => 170, 2 => 200, 3 => 300 }, { 1 => 120, 2 => 200, 3 => 300 })

    assert_equal [70, 2], [sampler.growth_mb("edge"), sampler.samples]
  end

  def test_of_several_processes_the_one_that_grew_most_counts
    assert_equal 30, sampler({ 1 => 100, 2 => 205, 3 => 330 }).growth_mb("worker")
  end

  def test_a_process_that_shrinks_or_ends_has_not_grown
    assert_equal [0, 0, nil], %w[edge worker mold].map { |role| sampler({ 1 => 50 }).growth_mb(role) }
  end

  def test_memory_that_comes_and_goes_is_seen
    child = IO.popen(["ruby", "-e", <<~RUBY], "r+")
      $stdout.sync = true
      puts "ready"
      gets
      grown = "x" * #{32 * MEGABYTE}
      puts "grown"
      gets
    RUBY
    child.gets
    sampler, value = Bench::MemorySampler.watch({ "child" => [child.pid] }) { grow(child) }

    assert_equal "grown\n", value
    assert_operator sampler.growth_mb("child"), :>=, 32
  ensure
    child.close
  end

  def test_a_process_that_has_gone_does_not_disturb
    sampler, = Bench::MemorySampler.watch({ "gone" => [0] }) { nil }

    assert_equal 0, sampler.growth_mb("gone")
  end

  private

  # Samples in MB, after one with 100, 200 and 300.
  def sampler(*samples)
    before, *later = [{ 1 => 100, 2 => 200, 3 => 300 }, *samples].map do |sample|
      sample.transform_values { |megabytes| megabytes * MEGABYTE }
    end
    later.reduce(Bench::MemorySampler.new(PIDS, before), :add)
  end

  # Waits for a sample after the child has grown.
  def grow(child)
    child.puts
    child.gets.tap { child.wait_readable(Bench::MemorySampler::INTERVAL_SECONDS * 5) }
  end
end
