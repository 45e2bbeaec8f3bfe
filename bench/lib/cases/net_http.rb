# frozen_string_literal: true

module Bench
  # Requests of one program to a slow server: in threads, in fibers, or one after the other.
  class NetHttp
    # One after the other, all requests would take minutes: sends as many as fit into this time, and at least 3.
    BLOCKING_SECONDS = 2

    # delays: milliseconds until the server responds.
    def initialize(number, delays)
      @number = number
      @delays = delays
    end

    # Each delay has a program of its own.
    def call(spec, _options)
      @delays.to_h do |delay|
        found = ClientProcess.beside(Servers.named(["hyper"]).first, nil, "NetHttpClient") do |_, client|
          client.call(:run, way: spec.name, path: "/delay/#{delay}", number: number(spec, delay))
        end
        [delay, { requests: number(spec, delay), rate: number(spec, delay) / found[:seconds], **found }]
      end
    end

    def self.obstacle = Servers::HYPER.obstacle

    private

    def number(spec, delay)
      return @number unless spec.name == "ruby-blocking" && delay.positive?

      (BLOCKING_SECONDS * 1000 / delay).clamp(3, @number)
    end

    WAYS = %w[carat-run async ruby-threads ruby-blocking].freeze
    # By milliseconds.
    X_THREADS = { "0" => 2.2, "10" => 2.2, "500" => 1.2 }.transform_values { |ratio| Target.at_least(ratio) }.freeze

    def self.kase(name, title, net_http, seconds: nil, threads: {}, async: nil)
      Case.new(
        name: name, title: title, servers: WAYS, variants: "delay ms", measure: net_http,
        needs: method(:obstacle), busy: true,
        columns: [
          Column.new("requests", :requests), Column.new("seconds", :seconds, places: 3, target: seconds),
          Column.new("req/s", :rate), Column.spread(:rate),
          Column.ratio("ruby-threads", :rate, heading: "x threads", target: ->(row) { threads[row.variant] }),
          Column.ratio("async", :rate, target: async), Column.new("+MB", :growth_mb, places: 1),
          Column.new("right", :right, over: :min, target: ->(row) { Target.at_least(row[:requests]) })
        ]
      )
    end
    private_class_method :kase

    CASES = [
      kase("gets20", "20 GETs by Net::HTTP to a server that takes 1 s", new(20, [1000]), seconds: Target.at_most(1.15)),
      kase("nethttp", "1000 GETs by Net::HTTP", new(1000, [0, 10, 50, 100, 500]), threads: X_THREADS,
                                                                                  async: Target.at_least(1))
    ].freeze
  end
end
