# frozen_string_literal: true

require "test_helper"
require_relative "../../../script/suite/failures"

class FailuresTest < Minitest::Test
  MINITEST = <<~TEXT
    .F.E

      1) Failure:
    LaneTest#test_it_opens [test/lane_test.rb:3]:
    Expected false to be truthy.

      2) Error:
    LaneTest#test_it_closes:
    IOError: closed
        test/lane_test.rb:7:in `close'

    4 runs, 3 assertions, 1 failures, 1 errors, 0 skips
  TEXT
  CARGO = <<~TEXT
    test opens ... ok
    test closes ... FAILED

    failures:

    ---- closes stdout ----
    thread 'closes' panicked at src/lane.rs:3:5:
    closed

    test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
  TEXT

  def test_each_failure_and_error_of_minitest_is_a_paragraph
    failure, error = Suite::Failures.from_minitest(MINITEST)

    assert_equal "  1) Failure:\nLaneTest#test_it_opens [test/lane_test.rb:3]:\nExpected false to be truthy.", failure
    assert error.end_with?("test/lane_test.rb:7:in `close'")
  end

  def test_cargo_names_the_test_and_what_it_said
    name, said = Suite::Failures.from_cargo(CARGO)

    assert_equal "test closes ... FAILED", name
    assert_equal "---- closes stdout ----\nthread 'closes' panicked at src/lane.rs:3:5:\nclosed", said
  end

  def test_long_failure_is_cut_off
    long = "  1) Failure:\nLaneTest#test_it_opens [x:3]:\n#{"y" * 999}\n#{"line\n" * 99}\n"
    lines = Suite::Failures.from_minitest(long).first.lines(chomp: true)

    assert_equal ["#{"y" * 300}...", "line", "... and 72 more lines"], lines.values_at(2, 3, -1)
  end

  def test_output_that_names_no_test_is_shown_at_its_end
    assert_equal ["#{"line\n" * 39}last"], Suite::Failures.from_minitest("#{"line\n" * 90}last\n")
  end
end
