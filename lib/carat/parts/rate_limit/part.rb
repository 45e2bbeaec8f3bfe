# frozen_string_literal: true

require_relative "../part"
require_relative "../../config/config_error"
require_relative "../../config/type/rule"
require_relative "../../log/counted"

module Carat
  module Parts
    # Rate limits: how many requests each client address may send.
    module RateLimit
      SECONDS = { "s" => 1, "m" => 60 }.freeze
      REQUESTS = 1..100_000
      private_constant :REQUESTS, :SECONDS

      # A number of requests in a second or a minute, such as `20/s`. The edge gets it as a Hash.
      RATE = Config::Type::Rule.new(
        "RATE", name: "rate", text: ->(rate) { rate ? "#{rate[:requests]}/#{SECONDS.key(rate[:period])}" : "off" },
                doc: "requests in a second or a minute, which may also come all at once: `20/s`, `300/m`; or `off`."
      ) do |value|
        next if value == false || value == "off"

        rate = %r{\A(?<requests>\d{1,6})/(?<unit>[sm])\z}.match(value.to_s)
        unless rate && REQUESTS.cover?(rate[:requests].to_i)
          raise Config::InvalidValue, "#{value.inspect} is not a number of requests from 1 to 100000 in a second or " \
                                      "minute, such as \"20/s\" or \"300/m\""
        end

        { requests: rate[:requests].to_i, period: SECONDS.fetch(rate[:unit]) }
      end

      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :rate_limit, key: :limit, group: "Client limits", type: RATE, default_text: "off", edge: true,
                            limit: 429, doc: "Requests that each client address may send, such as `20/s`; more get 429."

        # The line of `carat status` about the clients that are counted at the time, and the refused requests.
        def status(report)
          limit = report["rate_limit"] or return []
          ["rate limit: #{Log::Counted.of(limit["clients"], "client")}, " \
           "#{Log::Counted.of(limit["refused"], "request")} refused"]
        end
      end
    end
  end
end
