# frozen_string_literal: true

module Bench
  # How long requests wait for Ruby's full garbage collections where the heap is large.
  module FullCollections
    PATH = "/garbage"
    # As many as there are threads, to find the rate; enough for the load at a rate.
    THREADS = 6
    CONNECTIONS = 32
    # The load at a rate lasts this many times the duration: full collections are rare.
    TIMES = 12
    # Strings of a cache that each request of the Rack application replaces.
    STRINGS = [20, 100, 300].freeze

    # The Rails application.
    #
    # share: the rate of all servers, as a share of what the first reaches; streams: how many streams of events are open
    # meanwhile; items: how many of the objects stay, six each.
    class Rails
      def initialize(share: 0.6, streams: 0, items: 250_000)
        @share = share
        @streams = streams
        @items = items
      end

      # Every request has a connection of its own, because a kept one would stay with one of Puma's workers.
      def call(spec, options)
        waited = TestFile.path("waited")
        spec = spec.with_env("BENCH_WAITED" => waited, "BENCH_ITEMS" => @items.to_s, **Weight::DATABASE.call)
        Server.run(spec, File.join(APPS, "rails_gc.ru")) do |server|
          open = EventClients.new(server.port).open(count: @streams)
          raise Failure, "#{spec.name}: #{open} of #{@streams} streams began" if open < @streams

          reached = capacity(server, options)
          @rate ||= [(reached * @share).round, 1].max
          before = lines(waited)
          report = SteadyLoad.run(server, PATH, connections: CONNECTIONS, seconds: options.duration * TIMES,
                                                rate: @rate, kept: false)
          FullCollections.sample(report, server, options).merge(rate: @rate, waited: lines(waited) - before)
        end
      end

      private

      # Two passes: the first one warms up.
      def capacity(server, options)
        report = Array.new(2) do
          SteadyLoad.run(server, PATH, connections: THREADS, seconds: options.duration * 2, kept: false)
        end.last
        report.requests / report.seconds
      end

      def lines(path) = File.exist?(path) ? File.foreach(path).count : 0
    end

    def self.sample(report, server, options)
      all = Latencies.sum(report.windows)
      footprint = Footprint.of(server, settle: options.settle)
      { **report.sample, p50_ms: all.percentile(50) || 0, p90_ms: all.percentile(90) || 0,
                         p999_ms: all.percentile(99.9) || 0, p9999_ms: all.percentile(99.99) || 0,
                         pss_mb: footprint.pss_mb, private_mb: footprint.worker_private_mb }
    end

    # The Rack application, whose clients send the next request when they have a response.
    def self.rack(spec, options)
      STRINGS.to_h do |strings|
        variant = spec.with_env("BENCH_STRINGS" => strings.to_s)
        sample = Server.run(variant, File.join(APPS, "large_heap.ru")) do |server|
          load = { connections: spec.workers, kept: false }
          SteadyLoad.run(server, "/", seconds: options.duration * 2, **load)
          report = SteadyLoad.run(server, "/", seconds: options.duration * 2, **load)
          sample(report, server, options).merge(rate: report.requests / report.seconds)
        end
        [strings, sample]
      end
    end

    LATENCIES = [
      Column.new("p50 ms", :p50_ms, places: 1), Column.new("p99 ms", :p99_ms, places: 1),
      Column.new("p99.9 ms", :p999_ms, places: 1), Column.new("p99.99 ms", :p9999_ms, places: 1),
      Column.new("max ms", :max_ms, over: :max, places: 1)
    ].freeze
    MEMORY = [
      Column.new("PSS MB", :pss_mb, places: 1), Column.new("private MB of a worker", :private_mb, places: 1)
    ].freeze

    # Of so many requests, one may meet a full collection. Without the cycle, Ruby decides.
    ONE_OF = 2000
    SELDOM = lambda do |row|
      Target.at_most(row.values(:requests).sum / ONE_OF) unless row.spec.name.start_with?("carat-nocycle")
    end
    private_constant :ONE_OF, :SELDOM

    # others: the servers beside Carat with its cycle and without.
    def self.kase(name, title, servers, others: [], **load)
      Case.new(
        name: name, title: "Rails with a large heap, #{title}: latencies", servers: servers + others,
        measure: Rails.new(**load), needs: -> { Weight::RAILS.call || SteadyLoad.obstacle },
        columns: [
          Column.new("req/s", :rate, places: 1), *LATENCIES,
          *[servers.last, *others.first].map do |other|
            Column.ratio(other, :p999_ms, heading: "p99.9 x #{other}")
          end,
          Column.new("requests with a full collection", :waited, over: :sum, target: SELDOM), *MEMORY,
          Column.ratio(servers.last, :private_mb, heading: "private x #{servers.last}"), *Column.requests
        ]
      )
    end
    private_class_method :kase

    THREE = %w[carat-cycle-t3-w2 carat-nocycle-t3-w2].freeze
    private_constant :THREE

    CASES = [
      kase("gc", "60 % of the rate", THREE, others: %w[puma-t3-w2 puma-oob-t3-w2]),
      kase("gc-low", "40 % of the rate", THREE, others: %w[puma-t3-w2], share: 0.4),
      kase("gc-high", "95 % of the rate", THREE, share: 0.95),
      kase("gc-one", "one worker", %w[carat-cycle-t3-w1 carat-nocycle-t3-w1], share: 0.4),
      kase("gc-streams", "20 streams of events open",
           %w[carat-cycle-f64-w2 carat-nocycle-f64-w2], share: 0.4, streams: 20),
      kase("gc-held", "of 500 000 objects", THREE, others: %w[puma-t3-w2], items: 83_000),
      Case.new(
        name: "gc-rack", title: "2.4 million objects: a Rack application", needs: SteadyLoad.method(:obstacle),
        variants: "strings", servers: %w[carat-cycle-w2 carat-nocycle-w2 puma-w2], measure: method(:rack),
        columns: [
          Column.new("req/s", :rate, places: 1), Column.ratio("puma-w2", :rate, heading: "x puma"), *LATENCIES,
          Column.ratio("puma-w2", :p99_ms, heading: "p99 x puma"),
          Column.ratio("puma-w2", :p999_ms, heading: "p99.9 x puma"),
          *MEMORY, Column.ratio("puma-w2", :pss_mb, heading: "PSS x puma"), *Column.requests
        ]
      )
    ].freeze
  end
end
