# frozen_string_literal: true

module Bench
  # The memory of WebSockets that are idle, and how fast one message reaches them all.
  module WebSockets
    PLAIN = ->(spec, options) { EventStreams.measure("websockets.ru", "WebSocketClients", spec, options) }
    CABLE = ->(spec, options) { EventStreams.measure("action_cable.ru", "CableClients", spec, options) }

    # For the process that holds the clients' connections; Puma has no other.
    EDGE = ->(row) { Target.at_most(3) if row.spec.family == "carat" }

    COLUMNS = [
      Column.new("sockets", :streams),
      Column.new("opened", :open, over: :min, target: EventStreams::ALL_OF_THEM),
      Column.new("received every message", :received, over: :min, target: EventStreams::ALL_OF_THEM),
      Column.new("ms until the last received one", :slowest_ms, places: 1, target: Target.below(1000)),
      Column.new("PSS MB before", :before_mb, places: 1), Column.new("with them", :waiting_mb, places: 1),
      Column.new("KB a socket", :request_kb, places: 1),
      Column.new("front process", :front_kb, places: 1, target: EDGE),
      Column.text("by process") { |row| Sleepers.describe(row) }
    ].freeze

    CASES = [
      Case.new(name: "websockets", title: "5000 idle WebSockets", servers: %w[carat-t5 puma-t5],
               measure: PLAIN, columns: COLUMNS),
      Case.new(name: "action_cable", title: "5000 idle subscribers of ActionCable",
               servers: %w[carat-t5-cable carat-t5 puma-t5], measure: CABLE, columns: COLUMNS)
    ].freeze
  end
end
