# frozen_string_literal: true

require_relative "bound"
require_relative "cgroup"
require_relative "figure"
require_relative "lifecycle"
require_relative "server"
require_relative "steady"
require_relative "table"

module Bench
  # A server in a memory cgroup, and many requests that allocate.
  class CgroupCase
    # boot, most: anonymous bytes after boot and at most under the load; workers: how many at most; edge: whether the
    # process that was started is the one that serves in the end; kills: by the kernel, for the limit.
    Sample = Struct.new(:boot, :most, :workers, :edge, :kills, :report, keyword_init: true)
    HEADINGS = ["server", "limit MB", "anonymous MB after boot", "at most", "workers at most", "processes killed",
                "the edge lives", "requests", "failed"].freeze
    NONE_KILLED = Bound.at_most(0)

    attr_reader :title, :peers

    # bytes: the limit.
    def initialize(title:, app:, path:, bytes:, peers:)
      @title = title
      @app = app
      @path = path
      @bytes = bytes
      @peers = peers
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      Steady::CLIENT.obstacle || Cgroup.obstacle
    end

    def measure(peer, arguments)
      Cgroup.make(@bytes) do |cgroup|
        inside = peer.dup.tap { |copy| copy.command = cgroup.wrap(peer.command) }
        Server.run(inside, @app) do |server|
          sleep(arguments.settle)
          boot = cgroup.anonymous
          edge = server.pids_by_role.fetch(peer.front_role)
          load = Steady.start(server.port, @path, connections: arguments.connections, seconds: arguments.duration * 2)
          most, workers = watch(peer, cgroup, server, arguments.duration * 2)
          Sample.new(boot: boot, most: most, workers: workers, kills: cgroup.kills, report: load.finish,
                     edge: server.pids_by_role[peer.front_role] == edge)
        end
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        table << [peer.name, Figure.megabytes(@bytes), Figure.megabytes(list.map(&:boot).max), most(peer, list),
                  list.map(&:workers).max, peer.judged(NONE_KILLED, list.sum(&:kills)),
                  list.all?(&:edge) ? "yes" : "**no**", Figure.count(list.sum { |sample| sample.report.requests }),
                  list.sum { |sample| sample.report.failed }]
      end
    end

    private

    # The most anonymous bytes and workers in this time.
    def watch(peer, cgroup, server, seconds)
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      readings = []
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
        readings << [cgroup.anonymous, server.pids_by_role.fetch(peer.worker_role, []).size]
        sleep(Server::POLL_SECONDS)
      end
      readings.transpose.map(&:max)
    end

    def most(peer, list)
      bytes = list.map(&:most).max
      peer.judged(Bound.at_most(@bytes >> 20), bytes >> 20, Figure.megabytes(bytes))
    end
  end
end
