# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/profile/time_text"
require "carat/lab/profile/time_report"
require "support/small_profile"

module Carat
  class ProfileTimeTextTest < Minitest::Test
    include Support::SmallProfile

    def test_cpu_is_told_by_the_request
      assert_equal ["0.3 ms of CPU in 1.0 s and 3 requests, 0.1 ms a request",
                    "From 1 sample, one in 10.0 ms: an estimate."], text(:cpu).lines(chomp: true).first(2)
    end

    def test_wall_clock_is_that_of_all_threads
      assert_equal "70.4 ms of all threads in 1.0 s, whether they run or wait", text(:wall).lines(chomp: true).first
    end

    def test_waits_for_the_lock_are_a_share_of_the_time_in_which_threads_could_run
      text = text(:gvl, clocks: ["gvl"], waited_seconds: 1, ran_seconds: 3)

      assert_match(/\A25\.0 % of the time in which threads could run, they waited for the GVL: 1\.000 of 4\.000/, text)
      assert_match(/^No thread has waited for the GVL long enough for a sample\.\z/, text)
    end

    def test_samples_that_were_lost_and_a_worker_that_was_replaced_are_named
      text = text(:cpu, lost: 2, replaced: true)

      assert_includes text, "\nThe worker was replaced: this is what was seen until then.\n2 further samples came "
    end

    private

    def text(clock, **details)
      CLI::Profile::TimeText.new(time_report(**details), clock, cut: 1, inverted: false, out: StringIO.new).to_s
    end
  end
end
