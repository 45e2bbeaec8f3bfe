# frozen_string_literal: true

module Bench
  # A server in a memory cgroup, and many requests that allocate.
  module MemoryLimit
    LIMIT_MB = 256
    INTERVAL_SECONDS = 0.02

    def self.call(spec, options)
      Cgroup.make(LIMIT_MB << 20) do |cgroup|
        Server.run(spec.with(command: cgroup.wrap(spec.command)), File.join(APPS, "weight.ru")) do |server|
          sleep(options.settle)
          boot = cgroup.anonymous
          edge = server.pids_by_role.fetch(spec.front_role)
          readings = []
          report = Repeat.beside(-> { readings << [cgroup.anonymous, server.workers.size] }, every: INTERVAL_SECONDS) do
            SteadyLoad.run(server, "/garbage", connections: options.connections, seconds: options.duration * 2)
          end
          most, workers = readings.transpose.map(&:max)
          { boot_mb: Number.mb(boot), most_mb: Number.mb(most), workers: workers, kills: cgroup.kills,
            edge_lives: server.pids_by_role[spec.front_role] == edge ? 1 : 0, requests: report.requests,
            failed: report.failed }
        end
      end
    end

    CASES = [
      Case.new(
        name: "cgroup", title: "A memory cgroup of 256 MB", servers: %w[carat-auto], measure: method(:call),
        needs: -> { SteadyLoad.obstacle || Cgroup.obstacle },
        columns: [
          Column.text("limit MB") { LIMIT_MB }, Column.new("anonymous MB after boot", :boot_mb, over: :max, places: 1),
          Column.new("at most", :most_mb, over: :max, places: 1, target: Target.at_most(LIMIT_MB)),
          Column.new("workers at most", :workers, over: :max),
          Column.new("processes killed", :kills, over: :sum, target: Target.at_most(0)),
          Column.new("the edge lives", :edge_lives, over: :min, target: Target.at_least(1)),
          Column.new("requests", :requests, over: :sum), Column.new("failed", :failed, over: :sum)
        ]
      )
    ].freeze
  end
end
