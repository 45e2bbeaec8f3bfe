# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/leak/result"

# The rows of `bench/leak_table`.
class LeakResultTest < Minitest::Test
  def test_row_counts_right_verdicts_and_lines
    results = [result("leak", 16.0, [3, 9]), result("bounded cache", 15.0, [9])]

    assert_equal "| string | 1 of 2 | 16.1 | 15.0 to 16.0 | 14.0 to 17.0 | 1 of 2 | 4 |",
                 Bench::LeakResult.row(:string, results, planted: 16.14)
  end

  def test_fourth_place_does_not_count
    refute_predicate result("leak", 16.0, [1, 2, 4, 3]), :named?
  end

  def test_run_that_failed_is_not_right
    failed = Bench::LeakResult.new({}, "no leak", nil, 1.0)

    assert_equal "| rack | 0 of 1 |  |  |  |  | 1 |", Bench::LeakResult.row(:rack, [failed], planted: nil)
    assert_match(/\AWRONG/, failed.to_s)
  end

  private

  # A run about an application that leaks at line 3.
  def result(verdict, slope, lines)
    report = { "verdict" => verdict, "bytes_per_request" => slope, "interval" => [slope - 1, slope + 1],
               "sites" => lines.map { |line| { "line" => line } } }
    Bench::LeakResult.new(report, "leak", 3, 3.6)
  end
end
