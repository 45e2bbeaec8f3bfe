# frozen_string_literal: true

require "test_helper"

module Carat
  # Timers of channels (`periodically`), which the edge has.
  class CableChannelTimersTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    INTERVALS = [5000, 250, 1000].freeze

    def test_a_subscription_starts_the_timers_of_its_channel
      assert_equal INTERVALS, subscribe("TimedChannel").fetch("timers")
      refute subscribe("RoomChannel").key?("timers")
      assert_equal ["rejected", []], subscribe("TimedChannel", closed: true).values_at("subscription", "timers")
    end

    def test_a_timer_runs_a_method_with_the_variables_of_the_channel
      first = command(timer(0))
      second = command(timer(0, state: first.fetch("state")))

      assert_equal [[1], [2]], [first, second].map { |result| sent(result).map { |text| text["message"] } }
      refute first.key?("timers")
    end

    def test_a_timer_runs_a_block_within_the_executor
      command(timer(0))

      assert_equal [["doors", '["ann",null]']], command(timer(1)).fetch("broadcasts")
    end

    def test_a_timer_that_raises_is_logged_and_not_rescued_by_the_connection
      response = post(timer(2))

      assert_equal [500, "{}"], [response.status, response.body]
      assert_match(/There was an exception - ArgumentError\(no time\)/, log)
    end

    def test_other_code_has_other_timers
      [timer(1, every: 5000), timer(3, every: 1000)].each do |order|
        assert_equal({ "timers" => INTERVALS }, command(order))
      end
      assert_equal({ "timers" => [] }, command(timer(0).merge("identifier" => identifier("WaitingChannel"))))
    end

    def test_a_channel_ends_its_timers_and_starts_no_others
      assert_equal [], perform("TimedChannel", "stop").fetch("timers")
      assert_equal 500, post(order("TimedChannel", "start")).status
      assert_match(/TimedChannel: with the option `cable`, `periodically` alone starts timers/, log)
    end

    private

    def timer(number, every: INTERVALS[number], state: nil)
      { "command" => "timer", "connection" => connected, "identifier" => identifier("TimedChannel"),
        "timer" => number, "every" => every, "state" => state }
    end
  end
end
