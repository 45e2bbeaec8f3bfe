# frozen_string_literal: true

require "stringio"
require "tmpdir"
require "test_helper"
require_relative "../../../script/suite/ruby_tests"

class RubyTestsTest < Minitest::Test
  QUOTED = <<~TEXT
    F

      1) Failure:
    Other#test_it [x:1]:
    wrong

    3 runs, 3 assertions, 1 failures, 0 errors, 0 skips
  TEXT

  def setup
    @directory = Dir.mktmpdir
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_failure_that_does_not_occur_again_is_no_failure
    step = run_step(first: "flunk 'too late' unless File.exist?(mark) || !File.write(mark, '')", second: "assert true")
    repeated = step.repeat(out: StringIO.new)

    assert_equal Suite::Tally.new(2, 0, 0), step.tally
    assert_empty step.failed
    assert_equal 1, repeated.size
    assert_match(/Outer::PlantedTest#test_first .*too late/m, repeated.first)
  end

  def test_failure_that_occurs_again_stays_one
    step = run_step(first: "flunk 'wrong'", second: "assert true")

    assert_empty step.repeat(out: StringIO.new)
    assert_equal Suite::Tally.new(1, 1, 0), step.tally
    assert_equal [step], step.failed
    assert_match(/test_first .*wrong/m, step.failures.join)
  end

  def test_error_is_repeated_too
    step = run_step(first: "File.exist?(mark) or (File.write(mark, '') && raise('gone'))", second: "skip")

    assert_match(/gone/, step.repeat(out: StringIO.new).join)
    assert_equal Suite::Tally.new(1, 0, 1), step.tally
  end

  def test_test_that_is_skipped_when_it_is_repeated_has_failed
    step = run_step(first: "File.exist?(mark) ? skip : (File.write(mark, '') && flunk)", second: "assert true")

    assert_empty step.repeat(out: StringIO.new)
    assert_equal Suite::Tally.new(1, 1, 0), step.tally
  end

  def test_tests_of_a_process_that_ends_as_no_failure_does_are_not_repeated
    step = run_step(first: "flunk unless File.exist?(mark) || !File.write(mark, '')", second: "at_exit { exit!(3) }")

    assert_empty step.repeat(out: StringIO.new)
    assert_equal 1, step.tally.failed
  end

  def test_results_of_other_tests_in_a_message_do_not_count
    step = run_step(first: "flunk #{QUOTED.dump} unless File.exist?(mark) || !File.write(mark, '')", second: "skip")

    assert_match(/Other#test_it/, step.repeat(out: StringIO.new).join)
    assert_equal Suite::Tally.new(1, 0, 1), step.tally
  end

  def test_failure_may_quote_any_bytes
    step = run_step(first: "flunk(\"caf\\xC3 \\xFF\".b)", second: "assert true")

    assert_equal Suite::Tally.new(1, 1, 0), step.tally
    assert_match(/test_first.*caf/m, step.failures.join)
  end

  def test_tests_that_an_interrupt_leaves_out_have_failed
    step = run_step(first: "raise Interrupt", second: "raise Interrupt")

    assert_empty step.repeat(out: StringIO.new)
    assert_equal 1, step.tally.failed
    assert_match(/tests? did not run/, step.failures.join)
  end

  def test_process_that_died_is_not_repeated
    step = run_step(first: "exit!(1)", second: "exit!(1)")

    assert_empty step.repeat(out: StringIO.new)
    assert_equal Suite::Tally.new(0, 1, 0), step.tally
    assert_equal 1, step.failures.size
  end

  def test_file_that_does_not_load_is_a_failure
    step = Suite::RubyTests.new("planted", [File.join(@directory, "none_test.rb")])

    assert_equal Suite::Tally.new(0, 1, 0), step.run(out: StringIO.new)
    assert_match(/LoadError/, step.failures.join)
  end

  private

  # A step with a file of two tests, which has run.
  def run_step(first:, second:)
    path = File.join(@directory, "planted_test.rb")
    File.write(path, <<~RUBY)
      require "minitest/autorun"
      module Outer
        class PlantedTest < Minitest::Test
          def mark = #{File.join(@directory, "mark").dump}
          def test_first = (#{first})
          def test_second = (#{second})
        end
      end
    RUBY
    Suite::RubyTests.new("planted", [path]).tap { |step| step.run(out: StringIO.new) }
  end
end
