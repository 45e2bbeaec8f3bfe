# frozen_string_literal: true

require "test_helper"
require_relative "../../../script/suite/tally"

class TallyTest < Minitest::Test
  CARGO = <<~TEXT
    test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
       Doc-tests wire
    test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
  TEXT

  def test_results_of_all_cargo_binaries_are_added
    assert_equal Suite::Tally.new(15, 2, 1), Suite::Tally.from_cargo(CARGO)
  end

  def test_output_without_a_result_gives_no_counts
    assert_nil Suite::Tally.from_cargo("error: could not compile\n")
  end

  def test_skips_are_named_only_when_there_are_any
    assert_equal "4 passed, 0 failed", Suite::Tally.new(4, 0, 0).to_s
    assert_equal "4 passed, 0 failed, 1 skipped", Suite::Tally.new(4, 0, 1).to_s
  end
end
