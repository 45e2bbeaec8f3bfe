# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchTableTest < Minitest::Test
  def test_figures_are_right_aligned_markdown
    table = Bench::Table.new(["server", "req/s"], [["puma", Bench::Number.count(12_849.6)], ["hyper", 7]])

    assert_equal <<~MARKDOWN, table.to_s
      | server |  req/s |
      | ------ | -----: |
      | puma   | 12 850 |
      | hyper  |      7 |
    MARKDOWN
  end

  def test_counts_are_grouped_by_thousands
    assert_equal ["0", "999", "1 000", "-12 345", "1 234 567"],
                 [0, 999, 1000, -12_345, 1_234_567].map { |number| Bench::Number.count(number) }
  end
end
