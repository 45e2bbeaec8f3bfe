# frozen_string_literal: true

module Bench
  # Redmine in a memory cgroup that is too small for it with most servers.
  module RedmineLimit
    LIMIT_MB = 300
    REQUESTS = 800
    QUICK_REQUESTS = 100
    CONNECTIONS = 20

    def self.call(spec, options)
      Cgroup.make(LIMIT_MB << 20) do |cgroup|
        RedmineLoad.run(spec.with(command: cgroup.wrap(spec.command))) do |server, client|
          front = server.pids_by_role.fetch(spec.front_role)
          steps = client.call(:set_up)
          requests = options.quick ? QUICK_REQUESTS : REQUESTS
          load = client.call(:load, requests: requests, connections: CONNECTIONS)
          { answered: requests - load.fetch(:failed), requests: requests, steps: steps.size, rate: load.fetch(:rate),
            p99_ms: load.fetch(:p99_ms), kills: cgroup.kills,
            front_lives: server.pids_by_role[spec.front_role] == front ? 1 : 0 }
        end
      end
    end

    CASES = [
      Case.new(
        name: "redmine_cgroup", title: "Redmine in a memory cgroup of 300 MB", once: true,
        servers: %w[carat-t5-w2 puma-t5-w2 jemalloc-puma-t5-w2], measure: method(:call),
        needs: -> { Redmine.obstacle || Cgroup.obstacle },
        columns: [
          Column.new("requests", :requests), Column.new("answered", :answered, target: Target.at_least(REQUESTS - 1)),
          Column.new("steps before that failed", :steps), Column.new("req/s", :rate, places: 1),
          Column.new("p99 ms", :p99_ms), Column.new("processes killed", :kills),
          Column.new("the first process lives", :front_lives, target: Target.at_least(1))
        ]
      )
    ].freeze
  end
end
