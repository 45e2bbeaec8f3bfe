# frozen_string_literal: true

require_relative "figure"
require_relative "footprint"
require_relative "series"
require_relative "table"

module Bench
  # The table of a LoadCase: speed, cost, and how the servers compare.
  class LoadTable
    HEADINGS = ["server", "req/s", "min-max", "p50 ms", "p99 ms", "CPU s/1000", "PSS MB", "of that"].freeze

    # samples: Peer => list of LoadCase::Sample; rate: the Bound of the requests a second, or nil.
    def initialize(samples, comparisons, rate)
      @samples = samples
      @comparisons = comparisons
      @rate = rate
      @figures = { rate: figures { |sample| sample.wrk.rate }, pss: figures { |sample| sample.footprint.pss },
                   p99: figures { |sample| sample.wrk.p99 } }
    end

    def to_s
      table = Table.new([*HEADINGS, *@comparisons.map(&:heading), "errors"])
      @samples.each do |peer, list|
        table << [peer.name, *speed(peer, list), *cost(list), *compared(peer), list.sum { |sample| sample.wrk.errors }]
      end
      table.to_s
    end

    private

    def speed(peer, list)
      rates = @figures.fetch(:rate).fetch(peer.name)
      count = Figure.count(rates.median)
      [@rate ? peer.judged(@rate, rates.median, count) : count, "#{Figure.count(rates.min)}-#{Figure.count(rates.max)}",
       Figure.decimals(series(list) { |sample| sample.wrk.p50 }.median, 2),
       Figure.decimals(series(list) { |sample| sample.wrk.p99 }.median, 2)]
    end

    def cost(list)
      [Figure.decimals(series(list, &:cpu_per_thousand).median, 4),
       Figure.megabytes(series(list) { |sample| sample.footprint.pss }.median),
       Figure.roles(Footprint.median_roles(list.map(&:footprint)))]
    end

    # Nothing is asked of those that others are compared with.
    def compared(peer)
      judged = @comparisons.none? { |comparison| comparison.base == peer.name }
      @comparisons.map { |comparison| comparison.cell(peer, @figures.fetch(comparison.figure), judged: judged) }
    end

    def figures(&)
      @samples.to_h { |peer, list| [peer.name, series(list, &)] }
    end

    def series(list, &)
      Series.new(list.map(&))
    end
  end
end
