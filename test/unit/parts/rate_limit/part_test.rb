# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/config_error"
require "carat/parts/rate_limit/part"

module Carat
  class RateLimitPartTest < Minitest::Test
    RATE = Parts::RateLimit::RATE

    def test_rates_are_requests_in_a_second_or_a_minute
      assert_equal({ requests: 20, period: 1 }, RATE.parse("20/s"))
      assert_equal({ requests: 100_000, period: 60 }, RATE.parse("100000/m"))
      assert_equal([nil, nil], ["off", false].map { |value| RATE.parse(value) })
      assert_equal(%w[300/m off], [RATE.text({ requests: 300, period: 60 }), RATE.text(nil)])
    end

    def test_what_is_no_rate_is_refused_with_an_example
      ["0/s", "100001/s", "20", 20, "20/h", "20 /s", "-1/s", "1.5/s", "20/s\n", true, ""].each do |value|
        error = assert_raises(Config::InvalidValue, value.inspect) { RATE.parse(value) }
        assert_equal "#{value.inspect} is not a number of requests from 1 to 100000 in a second or minute, such as " \
                     "\"20/s\" or \"300/m\"", error.message
      end
    end

    def test_the_status_counts_clients_and_refused_requests
      part = Parts::RateLimit::Part.new
      assert_equal ["rate limit: 1 client, 5 requests refused"],
                   part.status("rate_limit" => { "clients" => 1, "refused" => 5 })
      assert_empty part.status({})
    end
  end
end
