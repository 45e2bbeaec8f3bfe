# frozen_string_literal: true

module Bench
  # The memory of a connection that stays open, idle, after one response.
  module Idle
    def self.call(spec, options)
      ClientProcess.beside(spec, File.join(APPS, "hello.ru"), "IdleClients") do |server, clients|
        before = Footprint.of(server, settle: options.settle)
        held = clients.call(:open, count: Server.connections(options.idle_connections))
        after = Footprint.of(server, settle: options.settle)
        open, again = clients.call(:check)
        { held: held, before_mb: before.pss_mb, with_mb: after.pss_mb, open: open, again: again,
          front_bytes: (after.front_pss - before.front_pss).fdiv(held), bytes: (after.pss - before.pss).fdiv(held) }
      end
    end

    CASES = [
      Case.new(
        name: "idle", title: "Idle keep-alive connections", servers: %w[carat puma-idle hyper], measure: method(:call),
        columns: [
          Column.new("connections", :held), Column.new("PSS MB before", :before_mb, places: 1),
          Column.new("PSS MB with them", :with_mb, places: 1), Column.new("bytes each, front process", :front_bytes),
          Column.new("bytes each, all processes", :bytes), Column.new("still open", :open),
          Column.text("200 again") { |row| "#{Statistics.median(row.values(:again)).round}/#{IdleClients::PROBES}" }
        ]
      )
    ].freeze
  end
end
