# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require_relative "../../../../bench/lib/bench"

class BenchClientProcessTest < Minitest::Test
  class Adder
    def add(left:, right:) = { sum: left + right }
  end

  def test_each_call_returns_a_line_after_the_first
    output = StringIO.new
    calls = %(["add",{"left":1,"right":2}]\n["add",{"left":3,"right":4}]\n)
    Bench::ClientProcess.serve(Adder.new, StringIO.new(calls), output)

    assert_equal %(true\n{"sum":3}\n{"sum":7}\n), output.string
  end
end
