# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "lifecycle"
require_relative "server"
require_relative "steady"
require_relative "table"

module Bench
  # Workers and molds that are killed all the time while clients ask.
  class MassacreCase
    # report: a Steady::Report; kills: how many processes of each role were killed; back: whether all were there
    # again in the end; generations: molds after the first.
    Sample = Struct.new(:report, :kills, :back, :generations, keyword_init: true)
    HEADINGS = ["server", "seconds", "workers killed", "molds killed", "later molds", "GETs", "failed", "what they got",
                "p99 ms", "slowest ms", "all processes back"].freeze
    PAUSE_SECONDS = 0.2
    BACK_SECONDS = 30
    CONNECTIONS = 16
    VICTIMS = %w[mold worker].freeze
    NONE_FAILED = Bound.at_most(0)
    QUICK = 6

    attr_reader :title, :peers

    # path: what is asked for; seconds: how long.
    def initialize(title:, app:, path:, seconds:, peers:)
      @title = title
      @app = app
      @path = path
      @seconds = seconds
      @peers = peers
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      Steady::CLIENT.obstacle
    end

    def measure(peer, arguments)
      seconds = arguments.quick ? @seconds / QUICK : @seconds
      Server.run(peer, @app) do |server|
        load = Steady.start(server.port, @path, connections: CONNECTIONS, seconds: seconds)
        kills = kill_for(seconds, server)
        report = load.finish
        Sample.new(report: report, kills: kills, back: !server.poll(BACK_SECONDS) { whole?(peer, server) }.nil?,
                   generations: Lifecycle.new(server.events).generations)
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        latencies = Latencies.sum(list.flat_map { |sample| sample.report.windows })
        killed = VICTIMS.reverse.map { |role| list.sum { |sample| sample.kills.fetch(role, 0) } }
        table << [peer.name, list.sum { |sample| sample.report.windows.size } / 10, *killed,
                  list.sum(&:generations), Figure.count(latencies.requests),
                  peer.judged(NONE_FAILED, latencies.failed), statuses(list),
                  *[99, 100].map { |percent| Figure.decimals(latencies.percentile(percent) || 0, 1) },
                  list.all?(&:back) ? "yes" : "**no**"]
      end
    end

    private

    # Role => how many of it were killed: any process that there is, the edge excepted.
    def kill_for(seconds, server)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      (1..(seconds / PAUSE_SECONDS)).each_with_object(Hash.new(0)) do |number, kills|
        sleep([started + (number * PAUSE_SECONDS) - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max)
        role = kill_one(server)
        kills[role] += 1 if role
      end
    end

    # Only what was ready: a mold that is killed whenever it boots never comes to fork.
    def kill_one(server)
      ready = Lifecycle.new(server.events).ready_pids
      victims = server.pids_by_role.slice(*VICTIMS).flat_map { |role, pids| (pids & ready).map { |pid| [role, pid] } }
      role, pid = victims.sample
      Process.kill(:KILL, pid) if pid
      role
    rescue Errno::ESRCH
      # It has ended by itself.
      nil
    end

    # One edge, one mold, and as many workers as are wanted.
    def whole?(peer, server)
      pids = server.pids_by_role
      pids.transform_values(&:size) == { peer.front_role => 1, "mold" => 1, peer.worker_role => peer.workers }
    end

    def statuses(list)
      list.map { |sample| sample.report.statuses }.reduce { |all, one| all.merge(one) { |_, a, b| a + b } }
          .map { |status, count| "#{status}: #{Figure.count(count)}" }.join(", ")
    end
  end
end
