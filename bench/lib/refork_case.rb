# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "footprint"
require_relative "lifecycle"
require_relative "server"
require_relative "steady"
require_relative "table"

module Bench
  # A worker becomes the mold of the others while requests come as fast as they are answered.
  class ReforkCase
    # report: a Steady::Report; span: when the refork began and ended, or nil; before, after: Footprints.
    Sample = Struct.new(:report, :span, :before, :after, keyword_init: true) do
      # Latencies while nothing had happened yet; those of the first second are left out.
      def calm
        report.within((report.begun + WARM_SECONDS)..begin_or_end)
      end

      def during
        report.within(span) if span
      end

      def afterwards
        report.within((span.end + report.window_seconds)..report.ended) if span
      end

      private

      def begin_or_end
        span ? span.begin - report.window_seconds : report.ended
      end
    end
    HEADINGS = ["server", "took s", "p99 ms before", "during", "after", "during x before", "requests", "failed",
                "PSS MB before", "after", "of that"].freeze
    WARM_SECONDS = 1
    # The last worker's end is a moment before the last request that it kept waiting.
    MARGIN_SECONDS = 0.1
    PERCENT = 99
    RATIO = Bound.at_most(3)
    NONE_FAILED = Bound.at_most(0)

    attr_reader :title, :peers

    # path: what is asked for; seconds: how long.
    def initialize(title:, app:, path:, seconds:, peers:)
      @title = title
      @app = app
      @path = path
      @seconds = seconds
      @peers = peers
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      Steady::CLIENT.obstacle
    end

    def measure(peer, arguments)
      Server.run(peer, @app) do |server|
        before = footprint(server, arguments)
        report = Steady.run(server.port, @path, connections: arguments.connections, seconds: @seconds)
        span = Lifecycle.new(server.events).since(report.begun).span
        Sample.new(report: report, before: before, after: footprint(server, arguments),
                   span: span && ((span.begin - MARGIN_SECONDS)..(span.end + MARGIN_SECONDS)))
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        reforked, calm = list.partition(&:span)
        warn("#{peer.name}: no refork in #{calm.size} of #{list.size} rounds") if calm.any?
        table << [peer.name, *times(peer, reforked), *counts(peer, list),
                  *%i[before after].map { |time| Figure.megabytes(median(list) { |sample| sample[time].pss }) },
                  Figure.roles(list.last.after.roles)]
      end
    end

    private

    def footprint(server, arguments)
      sleep(arguments.settle)
      Footprint.new(server.members_by_role)
    end

    # The ratio is that of the worst round.
    def times(peer, list)
      return [Figure::NONE] * 5 if list.empty?

      ratios = list.map { |sample| percentile(sample.during).fdiv(percentile(sample.calm)) }
      [Figure.decimals(median(list) { |sample| sample.span.end - sample.span.begin - (2 * MARGIN_SECONDS) }, 1),
       *%i[calm during afterwards].map { |time| Figure.decimals(median(list) { |one| percentile(one.send(time)) }, 1) },
       peer.judged(RATIO, ratios.max, Figure.decimals(ratios.max, 2))]
    end

    def counts(peer, list)
      failed = list.sum { |sample| sample.report.failed }
      [Figure.count(list.sum { |sample| sample.report.requests }), peer.judged(NONE_FAILED, failed)]
    end

    # Zero where no request ended.
    def percentile(latencies)
      latencies.percentile(PERCENT) || 0
    end

    def median(list, &)
      Series.new(list.map(&)).median
    end
  end
end
