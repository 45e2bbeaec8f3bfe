# frozen_string_literal: true

require "io/wait"
require "minitest/autorun"
require_relative "../../../bench/lib/sampler"

class BenchSamplerTest < Minitest::Test
  GROWN_BYTES = 32 << 20

  def test_memory_that_comes_and_goes_is_seen
    child = IO.popen(["ruby", "-e", <<~RUBY], "r+")
      $stdout.sync = true
      puts "ready"
      gets
      grown = "x" * #{GROWN_BYTES}
      puts "grown"
      gets
    RUBY
    child.gets
    growth, value = Bench::Sampler.watch({ "child" => [child.pid] }) { grow(child) }

    assert_equal "grown\n", value
    assert_operator growth.of("child"), :>=, GROWN_BYTES
  ensure
    child.close
  end

  def test_a_process_that_has_gone_does_not_disturb
    growth, = Bench::Sampler.watch({ "gone" => [0] }) { nil }

    assert_equal 0, growth.of("gone")
  end

  private

  # Waits for a sample after the child has grown.
  def grow(child)
    child.puts
    child.gets.tap { child.wait_readable(Bench::Sampler::INTERVAL_SECONDS * 5) }
  end
end
