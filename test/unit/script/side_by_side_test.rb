# frozen_string_literal: true

require "stringio"
require "tmpdir"
require "test_helper"
require_relative "../../../script/suite/side_by_side"
require_relative "../../../script/suite/step"

class SideBySideTest < Minitest::Test
  GOOD = "puts 'test result: ok. 2 passed; 0 failed; 0 ignored'"
  BAD = "puts 'test result: FAILED. 1 passed; 1 failed; 1 ignored'; exit 1"

  def test_counts_of_all_steps_are_added
    assert_equal Suite::Tally.new(3, 1, 1), steps(GOOD, BAD).run(out: StringIO.new)
  end

  def test_step_that_failed_is_named
    both = steps(GOOD, BAD)
    both.run(out: StringIO.new)

    assert_equal ["step 2"], both.failed.map(&:name)
  end

  def test_steps_run_at_the_same_time
    Dir.mktmpdir do |directory|
      File.mkfifo(meeting = "#{directory}/meeting")
      both = steps("File.read(#{meeting.dump}); #{GOOD}", "File.write(#{meeting.dump}, 'x'); #{GOOD}")

      assert_equal Suite::Tally.new(4, 0, 0), both.run(out: StringIO.new)
    end
  end

  def test_interrupt_reaches_every_step_and_waits_for_its_end
    program = 'trap("INT") { exit }; at_exit { puts "cleaned up" }; puts "ready"; $stdout.flush; sleep'
    reader, out = IO.pipe
    both = Thread.new { steps(program, program).run(out: out) }
    both.report_on_exception = false
    ready = 0
    ready += 1 if reader.gets.include?("ready") until ready == 2
    both.raise(Interrupt)

    assert_raises(Interrupt) { both.join }
    out.close
    assert_equal "cleaned up\n" * 2, reader.read
  ensure
    [reader, out].each(&:close)
  end

  private

  def steps(*programs)
    Suite::SideBySide.new(programs.map.with_index(1) do |program, number|
      Suite::Step.new("step #{number}", RbConfig.ruby, "-e", program, reader: :cargo, within: 60)
    end)
  end
end
