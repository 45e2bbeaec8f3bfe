# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchRepeatTest < Minitest::Test
  def test_the_task_is_repeated_until_the_block_returns
    calls = Queue.new
    threads = Thread.list.size
    value = Bench::Repeat.beside(-> { calls << true }, every: 0) { Array.new(3) { calls.pop }.size }

    assert_equal [3, threads], [value, Thread.list.size]
  end
end
