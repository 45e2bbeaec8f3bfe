# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "series"
require_relative "table"

module Bench
  # The table of FormCase.
  class FormTable
    HEADINGS = ["server", "seconds", "x puma", "edge +MB", "worker +MB", "worker CPU ms beyond digest", "digest CPU ms",
                "written per byte", "GET alone p99/max ms", "while the body arrives p99 ms", "max ms",
                "until the answer max ms"].freeze
    BASE = "puma-t3"
    # The bounds are asked where the edge takes the form apart.
    ASKED_OF = "carat-form"
    FASTER = Bound.at_least(1.3)
    WORKER_MB = Bound.at_most(2)
    CPU_MS = Bound.at_most(20)
    WRITTEN = Bound.at_most(1.01)
    PROBE_MS = Bound.at_most(10)
    MEGABYTE = 1 << 20

    # samples: Peer => list of FormSample.
    def initialize(samples)
      @samples = samples
    end

    def to_s
      @samples.each_with_object(Table.new(HEADINGS)) { |(peer, list), table| table << row(peer, list) }.to_s
    end

    private

    def row(peer, list)
      [peer.name, Figure.decimals(median(list, &:seconds), 2), faster(peer, list),
       peer.alone? ? Figure::NONE : Figure.megabytes(list.map(&:front).max),
       judged(peer, WORKER_MB, list.map(&:worker).max.fdiv(MEGABYTE), 2),
       judged(peer, CPU_MS, median(list, &:cpu) * 1000, 1), Figure.decimals(median(list, &:digest) * 1000, 0),
       judged(peer, WRITTEN, list.map(&:disk).max, 2), *beside(peer, list)]
    end

    def faster(peer, list)
      base = @samples.find { |other, _| other.name == BASE }&.last
      return Figure::NONE unless base

      judged(peer, FASTER, Series.new(base.map(&:seconds)).ratio(Series.new(list.map(&:seconds))), 2)
    end

    # Over the requests of all rounds.
    def beside(peer, list)
      alone, arriving, answering = %i[alone arriving answering].map do |kind|
        Series.new(list.flat_map { |sample| sample.beside.fetch(kind) }.map { |seconds| seconds * 1000 })
      end
      ["#{one(alone.percentile(99))}/#{one(alone.max)}", slowest(peer, arriving), one(arriving.max), one(answering.max)]
    end

    def slowest(peer, arriving)
      milliseconds = arriving.percentile(99)
      milliseconds ? judged(peer, PROBE_MS, milliseconds, 1) : Figure::NONE
    end

    def one(milliseconds)
      milliseconds ? Figure.decimals(milliseconds, 1) : Figure::NONE
    end

    def judged(peer, bound, figure, places)
      text = Figure.decimals(figure, places)
      peer.name == ASKED_OF ? bound.cell(figure, text) : text
    end

    def median(list, &)
      Series.new(list.map(&)).median
    end
  end
end
