# frozen_string_literal: true

module Bench
  # Workers and molds that are killed all the time while clients send requests.
  module Chaos
    SECONDS = 60
    PAUSE_SECONDS = 0.2
    BACK_SECONDS = 30
    CONNECTIONS = 16
    VICTIMS = %w[mold worker].freeze

    def self.call(spec, options)
      seconds = options.quick ? SECONDS / 6 : SECONDS
      Server.run(spec, File.join(APPS, "weight.ru")) do |server|
        load = SteadyLoad.start(server, "/", connections: CONNECTIONS, seconds: seconds)
        kills = kill_for(seconds, server)
        report = load.finish
        back = server.poll(BACK_SECONDS) { complete?(spec, server) }
        { seconds: report.seconds, workers_killed: kills["worker"], molds_killed: kills["mold"],
          later_molds: server.log.later_generations, **report.sample,
          statuses: report.statuses, back: back ? 1 : 0 }
      end
    end

    # Role => how many of its processes were killed.
    def self.kill_for(seconds, server)
      started = Bench.now
      (1..(seconds / PAUSE_SECONDS)).each_with_object(Hash.new(0)) do |number, kills|
        sleep([started + (number * PAUSE_SECONDS) - Bench.now, 0].max)
        role = kill_one(server)
        kills[role] += 1 if role
      end
    end

    # Only processes that have been ready: a mold that is killed whenever it boots would never fork.
    def self.kill_one(server)
      ready = server.log.ready_pids
      victims = server.pids_by_role.slice(*VICTIMS).flat_map { |role, pids| (pids & ready).map { |pid| [role, pid] } }
      role, pid = victims.sample
      Process.kill(:KILL, pid) if pid
      role
    rescue Errno::ESRCH
      # It has just ended by itself.
      nil
    end

    # One edge, one mold, and the wanted number of workers.
    def self.complete?(spec, server)
      server.pids_by_role.transform_values(&:size) == { "edge" => 1, "mold" => 1, "worker" => spec.workers }
    end

    private_class_method :kill_for, :kill_one, :complete?

    STATUSES = Column.text("responses") do |row|
      sums = row.values(:statuses).reduce { |all, one| all.merge(one) { |_, left, right| left + right } }
      sums.map { |status, count| "#{status}: #{Number.count(count)}" }.join(", ")
    end

    CASES = [
      Case.new(
        name: "chaos", title: "SIGKILL for a worker or the mold every 200 ms", measure: method(:call),
        servers: %w[carat-kill-t3 carat-kill-f16 carat-kill-refork-t3 carat-kill-refork-f16],
        needs: SteadyLoad.method(:obstacle),
        columns: [
          Column.new("seconds", :seconds, over: :sum), Column.new("workers killed", :workers_killed, over: :sum),
          Column.new("molds killed", :molds_killed, over: :sum), Column.new("later molds", :later_molds, over: :sum),
          *Column.requests("GETs"), STATUSES,
          Column.new("p99 ms", :p99_ms, places: 1), Column.new("slowest ms", :max_ms, over: :max, places: 1),
          Column.new("all processes back", :back, over: :min, target: Target.at_least(1))
        ]
      )
    ].freeze
  end
end
