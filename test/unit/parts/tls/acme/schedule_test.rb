# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/tls/acme/schedule"

module Carat
  class ACMEScheduleTest < Minitest::Test
    DAY = 86_400
    Issued = Struct.new(:expires, :lifetime)

    def test_a_certificate_is_renewed_when_a_third_of_its_lifetime_is_left_or_shortly_before
      issued = Issued.new(Time.at(90 * DAY), 90 * DAY)

      assert_equal Time.at(60 * DAY), ACME::Schedule.renewal(issued, random: 0)
      assert_equal Time.at(57 * DAY), ACME::Schedule.renewal(issued, random: 1)
    end

    def test_fewer_than_five_attempts_fail_within_any_hour
      [0, 1].each do |random|
        attempts = (1..20).each_with_object([Time.at(0)]) do |failures, times|
          times << ACME::Schedule.attempt(failures, now: times.last, random: random)
        end

        attempts.each { |from| assert_operator attempts.count { |at| (from...from + 3600).cover?(at) }, :<, 5 }
      end
    end

    def test_the_authority_may_ask_for_a_longer_pause_and_for_no_shorter_one
      attempt = ->(seconds) { ACME::Schedule.attempt(1, now: Time.at(0), retry_after: seconds, random: 0).to_i }

      assert_equal [60, 7200], [attempt[1], attempt[7200]]
    end
  end
end
