# frozen_string_literal: true

module Bench
  # The memory of streams of events that wait, and how fast one event reaches them all.
  module EventStreams
    STREAMS = 5000
    ROUNDS = 5

    def self.call(spec, options) = measure("events.ru", "EventClients", spec, options)

    # Of this application and these clients.
    def self.measure(app, kind, spec, options)
      count = Server.connections([options.idle_connections, STREAMS].min)
      ClientProcess.beside(spec, File.join(APPS, app), kind) do |server, clients|
        before = Footprint.of(server, settle: options.settle)
        open = clients.call(:open, count: count)
        waiting = Footprint.of(server, settle: options.settle)
        received, times = Array.new(ROUNDS) { |round| clients.call(:publish, text: "round-#{round}") }.transpose
        { streams: count, open: open, received: received.min, slowest_ms: times.max, before_mb: before.pss_mb,
          waiting_mb: waiting.pss_mb, front_kb: (waiting.front_pss - before.front_pss).fdiv(count) / 1024,
          **Sleepers.growth(count, before, waiting) }
      end
    end

    ALL_OF_THEM = ->(row) { Target.at_least(row[:streams]) }

    CASES = [
      Case.new(
        name: "events", title: "5000 idle streams of events", servers: %w[carat-f10000], measure: method(:call),
        columns: [
          Column.new("streams", :streams), Column.new("begun", :open, over: :min, target: ALL_OF_THEM),
          Column.new("received every event", :received, over: :min, target: ALL_OF_THEM),
          Column.new("ms until the last received one", :slowest_ms, places: 1, target: Target.below(1000)),
          Column.new("PSS MB before", :before_mb, places: 1), Column.new("waiting", :waiting_mb, places: 1),
          Column.new("KB a stream", :request_kb, places: 1, target: Target.at_most(28)),
          Column.text("of that") { |row| Sleepers.describe(row) }
        ]
      )
    ].freeze
  end
end
