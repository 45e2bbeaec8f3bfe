# frozen_string_literal: true

module Bench
  # How long requests wait for Ruby's full garbage collections where the heap is large.
  module FullCollections
    # Rails at this share of the rate that the server reaches, so that there are gaps between requests.
    SHARE = 0.6
    PATH = "/garbage"
    # As many as there are threads, to find the rate; enough for the load at a rate.
    THREADS = 6
    CONNECTIONS = 32
    # The load at a rate lasts this many times the duration: full collections are rare.
    TIMES = 12
    # Strings of a cache that each request of the Rack application replaces.
    STRINGS = [20, 100, 300].freeze

    # Every request has a connection of its own, because a kept one would stay with one of Puma's workers.
    def self.rails(spec, options)
      waited = TestFile.path("waited")
      spec = spec.with_env("BENCH_WAITED" => waited, **Weight::DATABASE.call)
      Server.run(spec, File.join(APPS, "rails_gc.ru")) do |server|
        rate = [(capacity(server, options) * SHARE).round, 1].max
        before = lines(waited)
        seconds = options.duration * TIMES
        report = SteadyLoad.run(server, PATH, connections: CONNECTIONS, seconds: seconds, rate: rate, kept: false)
        { rate: rate, waited: lines(waited) - before, **report.sample, **latencies(report),
          **memory(server, options) }
      end
    end

    # Two passes: the first one warms up.
    def self.capacity(server, options)
      report = Array.new(2) do
        SteadyLoad.run(server, PATH, connections: THREADS, seconds: options.duration * 2, kept: false)
      end.last
      report.requests / report.seconds
    end

    def self.latencies(report)
      all = Latencies.sum(report.windows)
      { p50_ms: all.percentile(50) || 0, p999_ms: all.percentile(99.9) || 0 }
    end

    def self.memory(server, options)
      footprint = Footprint.of(server, settle: options.settle)
      { pss_mb: footprint.pss_mb, private_mb: footprint.worker_private_mb }
    end

    def self.lines(path) = File.exist?(path) ? File.foreach(path).count : 0

    # The Rack application, whose clients send the next request when they have a response.
    def self.rack(spec, options)
      STRINGS.to_h do |strings|
        variant = spec.with_env("BENCH_STRINGS" => strings.to_s)
        sample = Server.run(variant, File.join(APPS, "large_heap.ru")) do |server|
          load = { connections: spec.workers, kept: false }
          SteadyLoad.run(server, "/", seconds: options.duration * 2, **load)
          report = SteadyLoad.run(server, "/", seconds: options.duration * 2, **load)
          { rate: report.requests / report.seconds, **report.sample, **latencies(report), **memory(server, options) }
        end
        [strings, sample]
      end
    end

    LATENCIES = [
      Column.new("p50 ms", :p50_ms, places: 1), Column.new("p99 ms", :p99_ms, places: 1),
      Column.new("p99.9 ms", :p999_ms, places: 1), Column.new("max ms", :max_ms, over: :max, places: 1)
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

    CASES = [
      Case.new(
        name: "gc", title: "Rails with 1.5 million objects at 60 % of its rate: latencies", needs: lambda {
          Weight::RAILS.call || SteadyLoad.obstacle
        },
        servers: %w[carat-cycle-t3-w2 carat-nocycle-t3-w2 puma-t3-w2 puma-oob-t3-w2], measure: method(:rails),
        columns: [
          Column.new("req/s", :rate, places: 1), *LATENCIES,
          Column.ratio("carat-nocycle-t3-w2", :p999_ms, heading: "p99.9 x nocycle"),
          Column.ratio("puma-t3-w2", :p999_ms, heading: "p99.9 x puma"),
          Column.new("requests with a full collection", :waited, over: :sum, target: SELDOM), *MEMORY, *Column.requests
        ]
      ),
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
