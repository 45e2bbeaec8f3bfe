# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "heaviest"
require_relative "lifecycle"
require_relative "server"
require_relative "steady"
require_relative "table"

module Bench
  # An application that keeps a little of each request, at a steady rate, and workers that may weigh only so much.
  class LeakCase
    # report: a Steady::Report; peak: a Heaviest::Peak; replaced: how many workers were; workers: how many there are in
    # the end.
    Sample = Struct.new(:report, :peak, :replaced, :workers, keyword_init: true)
    HEADINGS = ["server", "requests", "failed", "p99 ms", "slowest ms", "highest private MB of a worker", "readings",
                "replaced", "workers in the end"].freeze
    CONNECTIONS = 16
    PRIVATE_MB = Bound.at_most(165)
    NONE_FAILED = Bound.at_most(0)
    SPARE_SECONDS = 30
    # A quick run leaks faster, for a shorter time.
    QUICK_RATE = 4
    QUICK_REQUESTS = 5

    attr_reader :title, :peers

    # rate: requests a second.
    def initialize(title:, app:, path:, requests:, rate:, peers:)
      @title = title
      @app = app
      @path = path
      @requests = requests
      @rate = rate
      @peers = peers
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      Steady::CLIENT.obstacle
    end

    def measure(peer, arguments)
      requests, rate = arguments.quick ? [@requests / QUICK_REQUESTS, @rate * QUICK_RATE] : [@requests, @rate]
      Server.run(peer, @app) do |server|
        peak, report = Heaviest.watch(server, peer.worker_role) do
          Steady.run(server.port, @path, connections: CONNECTIONS, requests: requests, rate: rate,
                                         seconds: (requests / rate) + SPARE_SECONDS)
        end
        sleep(arguments.settle)
        Sample.new(report: report, peak: peak, replaced: Lifecycle.new(server.events).count(/is to be replaced/),
                   workers: server.pids_by_role.fetch(peer.worker_role, []).size)
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        failed = list.sum { |sample| sample.report.failed }
        latencies = Latencies.sum(list.flat_map { |sample| sample.report.windows })
        table << [peer.name, Figure.count(latencies.requests), peer.judged(NONE_FAILED, failed),
                  *[99, 100].map { |percent| Figure.decimals(latencies.percentile(percent) || 0, 1) },
                  heaviest(peer, list), list.sum { |sample| sample.peak.readings }, list.sum(&:replaced),
                  peer.judged(Bound.at_least(peer.workers), list.map(&:workers).min)]
      end
    end

    private

    # The most of all rounds.
    def heaviest(peer, list)
      megabytes = list.map { |sample| sample.peak.bytes }.max.fdiv(1 << 20)
      peer.judged(PRIVATE_MB, megabytes, Figure.decimals(megabytes, 1))
    end
  end
end
