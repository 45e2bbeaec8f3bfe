# frozen_string_literal: true

require "stringio"
require "test_helper"
require_relative "../../../script/suite/step"

class StepTest < Minitest::Test
  def test_counts_of_a_runner_that_succeeds_are_taken_over
    assert_equal Suite::Tally.new(2, 0, 0), tally("test result: ok. 2 passed; 0 failed; 0 ignored")
  end

  def test_runner_that_prints_no_counts_has_failed
    assert_equal Suite::Tally.new(0, 1, 0), tally("all is well")
  end

  def test_runner_that_ends_badly_after_good_counts_has_failed
    assert_equal Suite::Tally.new(2, 1, 0), tally("test result: ok. 2 passed; 0 failed; 0 ignored", status: 1)
  end

  def test_command_that_does_not_exist_has_failed
    assert_equal Suite::Tally.new(0, 1, 0), quietly(Suite::Step.new("x", "/nonexistent/runner"))
  end

  def test_command_that_does_not_end_is_stopped
    step = Suite::Step.new("x", RbConfig.ruby, "-e", "sleep", within: 0.2)

    assert_equal Suite::Tally.new(0, 1, 0), quietly(step)
  end

  def test_command_that_is_silent_is_said_to_run
    out = StringIO.new
    Suite::Step.new("slow", RbConfig.ruby, "-e", "print 'x'; $stdout.flush; sleep", within: 2, silence: 0.1)
               .run(out: out)

    assert_match(/\(slow: still running after \d s\)\n/, out.string)
  end

  def test_interrupted_step_interrupts_its_command_and_waits_for_its_end
    program = 'trap("INT") { exit }; at_exit { puts "cleaned up" }; puts "ready"; $stdout.flush; sleep'
    reader, out = IO.pipe
    step = Thread.new { Suite::Step.new("x", RbConfig.ruby, "-e", program).run(out: out) }
    step.report_on_exception = false
    nil until reader.gets.include?("ready")
    step.raise(Interrupt)

    assert_raises(Interrupt) { step.join }
    out.close
    assert_equal "cleaned up\n", reader.read
  ensure
    [reader, out].each(&:close)
  end

  private

  def tally(output, status: 0)
    command = "puts ARGV.fetch(0); exit #{status}"
    quietly(Suite::Step.new("x", RbConfig.ruby, "-e", command, output, reader: :cargo))
  end

  def quietly(step)
    step.run(out: StringIO.new)
  end
end
