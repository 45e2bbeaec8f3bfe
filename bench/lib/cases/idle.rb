# frozen_string_literal: true

module Bench
  # The memory of a connection that stays open, idle, after one response.
  module Idle
    def self.call(spec, options)
      Server.run(spec, File.join(APPS, "hello.ru")) do |server|
        held(server, "http://127.0.0.1:#{server.port}/", options.idle_connections, options, "--h1")
      end
    end

    # What so many connections cost the server. arguments: of h2load.
    def self.held(server, url, wanted, options, *arguments)
      count = Server.connections(wanted)
      before = Footprint.of(server, settle: options.settle)
      after, again = H2load.hold(url, count, options, *arguments) { Footprint.of(server, settle: options.settle) }
      { held: count, before_mb: before.pss_mb, with_mb: after.pss_mb, again: again,
        front_bytes: (after.front_pss - before.front_pss).fdiv(count), bytes: (after.pss - before.pss).fdiv(count) }
    end

    AGAIN = Column.new("200 again", :again, over: :min, target: ->(row) { Target.at_least(row[:held]) })

    CASES = [
      Case.new(
        name: "idle", title: "Idle keep-alive connections", servers: %w[carat puma-idle hyper], measure: method(:call),
        needs: H2load.method(:obstacle),
        columns: [
          Column.new("connections", :held), Column.new("PSS MB before", :before_mb, places: 1),
          Column.new("PSS MB with them", :with_mb, places: 1), Column.new("bytes each, front process", :front_bytes),
          Column.new("bytes each, all processes", :bytes), AGAIN
        ]
      )
    ].freeze
  end
end
