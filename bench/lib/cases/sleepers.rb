# frozen_string_literal: true

module Bench
  # The memory of a waiting request when very many wait at once.
  module Sleepers
    # Longer than it takes to send all requests and to read the memory.
    SECONDS = 20

    def self.call(spec, options)
      count = Server.connections(options.idle_connections)
      seconds = options.quick ? SECONDS / 10 : SECONDS
      ClientProcess.beside(spec, File.join(APPS, "sleep.ru"), "WaitingClients") do |server, clients|
        before = Footprint.of(server, settle: options.settle)
        clients.call(:send_all, count: count, path: "/sleep?#{seconds}")
        asleep = Footprint.of(server, settle: options.settle)
        read_at = Bench.now
        times = clients.call(:times)
        after = Footprint.of(server, settle: options.settle)
        { requests: count, completed: times.size, asleep: asleep_at(read_at, times),
          before_mb: before.pss_mb, asleep_mb: asleep.pss_mb, after_mb: after.pss_mb, **growth(count, before, asleep) }
      end
    end

    def self.asleep_at(time, times) = times.count { |from, to| time.between?(from, to) }

    # KB a request, of the whole tree and of each kind of process.
    def self.growth(count, before, asleep)
      roles = asleep.roles.to_h { |role, (_, mb)| [role, (mb - before.roles.fetch(role).last) * 1024 / count] }
      { request_kb: (asleep.pss - before.pss).fdiv(count) / 1024, role_kb: roles }
    end

    def self.describe(row)
      row[:role_kb].keys.map do |role|
        "#{role} #{Number.decimals(Statistics.median(row.values(:role_kb).map { |kb| kb.fetch(role) }), 1)}"
      end.join(", ")
    end

    ALL_OF_THEM = ->(row) { Target.at_least(row[:requests]) }

    CASES = [
      Case.new(
        name: "sleepers", title: "10 000 requests that sleep at once", servers: %w[carat-f10000 puma-t10000],
        measure: method(:call),
        columns: [
          Column.new("requests", :requests), Column.new("completed", :completed, over: :min, target: ALL_OF_THEM),
          Column.new("asleep at once", :asleep, over: :min, target: ALL_OF_THEM),
          Column.new("PSS MB before", :before_mb, places: 1), Column.new("asleep", :asleep_mb, places: 1),
          Column.new("after", :after_mb, places: 1),
          Column.new("KB a request", :request_kb, places: 1, target: Target.at_most(28)),
          Column.text("of that") { |row| describe(row) }
        ]
      )
    ].freeze
  end
end
