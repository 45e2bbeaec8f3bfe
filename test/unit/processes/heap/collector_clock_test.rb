# frozen_string_literal: true

require "carat/processes/heap/collector_clock"
require "test_helper"

module Carat
  class CollectorClockTest < Minitest::Test
    include Support::Forked

    def test_only_collections_after_the_fork_count
      stats, seconds = forked do
        3.times { GC.start }
        clock = Processes::CollectorClock.new
        Array.new(1000) { Object.new }
        2.times { GC.start }
        [clock.stats, GC.stat(:time) / 1000.0]
      end
      assert_includes 1000..2000, stats[:allocated_objects]
      assert_includes 2..4, stats[:gc_count]
      assert_operator stats[:gc_seconds], :<=, seconds
      assert_operator stats[:cpu_seconds], :>, 0
      assert_in_delta stats[:gc_seconds] / stats[:cpu_seconds], stats[:gc_share]
    end
  end
end
