# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchRepeatTest < Minitest::Test
  def test_the_task_is_repeated_until_the_block_returns
    calls = Queue.new
    value = Bench::Repeat.beside(-> { calls << true }, every: 0) { Array.new(3) { calls.pop }.size }

    assert_equal 3, value
    assert_predicate calls.tap(&:close), :closed?
  end
end
