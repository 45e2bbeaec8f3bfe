# frozen_string_literal: true

module Bench
  # The memory of streams of events and WebSockets that wait, and how fast one event reaches them all.
  module EventStreams
    STREAMS = 5000
    ROUNDS = 5

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

    # kind: of the clients; each, front: Targets for the KB of a stream, of all processes and of the front one.
    def self.kase(name, title, servers, app, kind, each: nil, front: nil)
      Case.new(
        name: name, title: title, servers: servers, measure: ->(spec, options) { measure(app, kind, spec, options) },
        columns: [
          Column.new("streams", :streams), Column.new("opened", :open, over: :min, target: ALL_OF_THEM),
          Column.new("received each event", :received, over: :min, target: ALL_OF_THEM),
          Column.new("ms until the last received one", :slowest_ms, places: 1, target: Target.below(1000)),
          Column.new("PSS MB before", :before_mb, places: 1), Column.new("with them", :waiting_mb, places: 1),
          Column.new("KB each", :request_kb, places: 1, target: each),
          Column.new("front process", :front_kb, places: 1, target: front),
          Column.text("by process") { |row| Sleepers.describe(row) }
        ]
      )
    end
    private_class_method :measure, :kase

    CASES = [
      kase("events", "5000 idle streams of events", %w[carat-f10000], "events.ru", "EventClients",
           each: Target.at_most(28)),
      kase("websockets", "5000 idle WebSockets", %w[carat-t5 puma-t5], "websockets.ru", "WebSocketClients",
           front: Target.at_most(3)),
      kase("action_cable", "5000 idle subscribers of ActionCable", %w[carat-t5-cable carat-t5 puma-t5],
           "action_cable.ru", "CableClients", front: Target.at_most(3))
    ].freeze
  end
end
