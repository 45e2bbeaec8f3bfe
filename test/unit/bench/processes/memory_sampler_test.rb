# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"
require_relative "../../../support/eventually"

class BenchMemorySamplerTest < Minitest::Test
  include Support::Eventually

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
    sampler = Bench::MemorySampler.new({ "child" => [child.pid] })
    sampler.watch { grow(child, sampler) }

    assert_includes 30..40, sampler.growth_mb("child") # what it shares with other Ruby processes changes, too
  ensure
    child.close
  end

  def test_a_process_that_has_gone_does_not_disturb
    sampler = Bench::MemorySampler.new({ "gone" => [0] })

    assert_equal ["value", 0], [sampler.watch { "value" }, sampler.growth_mb("gone")]
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
  def grow(child, sampler)
    child.puts
    assert_equal "grown\n", child.gets
    before = sampler.samples
    eventually(message: "two samples") { sampler.samples > before + 1 }
  end
end
