# frozen_string_literal: true

module Bench
  # How long some requests took. requests: how many; failed: those of them without a good answer; latencies: pairs of
  # microseconds, ascending, and how many took so long.
  Latencies = Struct.new(:requests, :failed, :latencies, keyword_init: true) do
    def self.sum(list)
      counts = list.flat_map(&:latencies).each_with_object(Hash.new(0)) { |(time, count), sum| sum[time] += count }
      new(requests: list.sum(&:requests), failed: list.sum(&:failed), latencies: counts.sort)
    end

    # Milliseconds that so many in a hundred did not exceed; nil when there are none.
    def percentile(percent)
      rank = (requests * percent).fdiv(100).ceil
      microseconds, = latencies.find { |_, count| (rank -= count) <= 0 }
      microseconds&.fdiv(1000)
    end
  end
end
