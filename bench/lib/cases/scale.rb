# frozen_string_literal: true

module Bench
  # What a request costs with many connections, many workers, and many requests behind it.
  module Scale
    FEW = 64
    MANY = 1000
    # An edge keeps two descriptors for each client: a limit of 20 000 allows 9037 with 32 workers of three threads.
    MOST = 9000
    BEHIND = 100_000
    SECONDS = 300
    # Every client has a request in the queue.
    ROOM = { "CARAT_QUEUE_LIMIT" => "10000" }.freeze

    # connections: how many send requests; behind: how many requests come before the measured ones.
    Variant = Struct.new(:connections, :behind, keyword_init: true) do
      def to_s
        [Number.count(connections), ("after #{Number.count(behind)} requests" if behind.positive?)].compact.join(" ")
      end
    end

    VARIANTS = [
      Variant.new(connections: FEW, behind: 0), Variant.new(connections: MANY, behind: 0),
      Variant.new(connections: MOST, behind: 0), Variant.new(connections: FEW, behind: BEHIND)
    ].freeze

    def self.call(spec, options)
      VARIANTS.to_h { |variant| [variant, measure(spec, options, variant)] }
    end

    def self.measure(spec, options, variant)
      Server.run(spec.with_env(ROOM), File.join(APPS, "hello.ru")) do |server|
        precede(server, variant.behind)
        report = Wrk.new(server, options, connections: Server.connections(variant.connections)).warm_up.run
        { cpu_us: report.cost * 1e6, rate: report.rate, errors: report.errors }
      end
    end

    def self.precede(server, requests)
      return if requests.zero?

      SteadyLoad.run(server, "/", connections: FEW, seconds: SECONDS, requests: requests)
    end

    private_class_method :measure, :precede

    # CPU time of a row, over that of the same server with one worker and few connections.
    def self.growth(row)
      first = row.rows.find do |other|
        other.spec.workers == 1 && other.variant == VARIANTS.first.to_s && other.spec.carat? == row.spec.carat?
      end
      Statistics.ratio(row.values(:cpu_us), first.values(:cpu_us)) if first
    end

    # That growth, over the one of bare hyper: the kernel and hyper need more with many connections, too.
    def self.own_growth(row)
      hyper = row.of("hyper")
      mine, theirs = growth(row), hyper && growth(hyper)
      mine / theirs if mine && theirs
    end

    CASES = [
      Case.new(
        name: "scale", title: "Hello world with many connections and many workers", variants: "connections",
        servers: %w[carat carat-w8 carat-w32 hyper], measure: method(:call), busy: true,
        needs: -> { Wrk.obstacle || SteadyLoad.obstacle },
        columns: [
          Column.new("CPU us a request", :cpu_us, places: 2),
          Column.new("x one worker, 64", nil, places: 2, target: Target.at_most(1.15)) { |row| growth(row) },
          Column.new("x the same of hyper", nil, places: 2) { |row| own_growth(row) },
          Column.new("req/s", :rate), Column.new("errors", :errors, over: :sum)
        ]
      )
    ].freeze
  end
end
