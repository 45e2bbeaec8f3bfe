# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/process_clock"

class BenchProcessClockTest < Minitest::Test
  def test_it_is_the_processor_time_of_that_process
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    seen = Bench::ProcessClock.cpu(Process.pid)

    assert seen.between?(before, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID))
  end
end
