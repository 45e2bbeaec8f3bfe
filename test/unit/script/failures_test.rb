# frozen_string_literal: true

require "test_helper"
require_relative "../../../script/suite/failures"

class FailuresTest < Minitest::Test
  CARGO = <<~TEXT
    test opens ... ok
    test closes ... FAILED

    failures:

    ---- closes stdout ----
    thread 'closes' panicked at src/lane.rs:3:5:
    closed

    test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
  TEXT

  def test_cargo_names_the_test_and_what_it_said
    name, said = Suite::Failures.from_cargo(CARGO)

    assert_equal "test closes ... FAILED", name
    assert_equal "---- closes stdout ----\nthread 'closes' panicked at src/lane.rs:3:5:\nclosed", said
  end

  def test_long_failure_is_cut_off
    lines = Suite::Failures.short("LaneTest#test_it_opens [x:3]:\n#{"y" * 999}\n#{"line\n" * 99}").lines(chomp: true)

    assert_equal ["#{"y" * 300}...", "line", "... and 71 more lines"], lines.values_at(1, 2, -1)
  end

  def test_end_of_an_output_has_its_last_lines
    assert_equal "#{"line\n" * 39}last", Suite::Failures.end_of("#{"line\n" * 90}last\n")
  end
end
