# frozen_string_literal: true

module Bench
  # How long some requests took. failed: requests without a response or with another status than 200; latencies: pairs
  # of microseconds, ascending, and a number of requests.
  Latencies = Struct.new(:requests, :failed, :latencies, keyword_init: true) do
    def self.sum(list)
      counts = list.flat_map(&:latencies).each_with_object(Hash.new(0)) { |(time, count), sum| sum[time] += count }
      new(requests: list.sum(&:requests), failed: list.sum(&:failed), latencies: counts.sort)
    end

    # Milliseconds that `percent` of the requests did not exceed; nil when there are none.
    def percentile(percent)
      rank = (requests * percent).fdiv(100).ceil
      microseconds, = latencies.find { |_, count| (rank -= count) <= 0 }
      microseconds&.fdiv(1000)
    end
  end
end
