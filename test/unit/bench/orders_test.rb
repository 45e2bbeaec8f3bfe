# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require_relative "../../../bench/lib/orders"

class BenchOrdersTest < Minitest::Test
  class Adder
    def add(left:, right:)
      { sum: left + right }
    end
  end

  def test_each_order_is_answered_with_a_line_after_the_first
    output = StringIO.new
    Bench::Orders.obey(Adder.new, StringIO.new(%(["add",{"left":1,"right":2}]\n["add",{"left":3,"right":4}]\n)), output)

    assert_equal %(true\n{"sum":3}\n{"sum":7}\n), output.string
  end
end
