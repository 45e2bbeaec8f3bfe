# frozen_string_literal: true

module Carat
  module Lab
    module Load
      # What a load generator has seen: `requests` that got a response of a status below 400, and those that `failed`,
      # which are also counted by kind in `errors`; `seconds` for all of that; `latency`, a Hash of seconds by the names
      # of PERCENTILES; and whether it was `interrupted`.
      Traffic = Struct.new(:requests, :failed, :errors, :seconds, :latency, :interrupted, keyword_init: true) do
        # Returns the successful requests a second.
        def rate
          requests / seconds
        end
      end

      # Which latencies are reported: so many percent of the requests were not slower.
      Traffic::PERCENTILES = { "p50" => 50, "p75" => 75, "p90" => 90, "p99" => 99, "p99.9" => 99.9 }.freeze
    end
  end
end
