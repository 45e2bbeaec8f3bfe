# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "footprint"
require_relative "lifecycle"
require_relative "server"
require_relative "steady"
require_relative "table"

module Bench
  # One connection, many, and one again: workers come with the load and go after it.
  class LoadStepCase
    # calm, top, back: Footprints; grown: seconds from the step until the last worker that came was ready; shrunk:
    # seconds from the step back until the last one ended; reports: Steady::Reports of the three loads.
    Sample = Struct.new(:calm, :top, :back, :grown, :shrunk, :reports, keyword_init: true) do
      def failed
        reports.sum(&:failed)
      end
    end
    HEADINGS = ["server", "workers at the top", "grown in s", "p99 ms with one", "with all", "afterwards",
                "shrunk after s", "workers then", "PSS MB before", "at the top", "after", "after x before",
                "requests", "failed"].freeze
    CALM_SECONDS = 3
    # Until the last worker has ended, at one in each idle time.
    SHRINK_SECONDS = 90
    GROWN_SECONDS = Bound.at_most(1)
    MEMORY = Bound.at_most(1.1)
    NONE_FAILED = Bound.at_most(0)

    attr_reader :title, :peers

    # path: what is asked for; most: how many workers there may be.
    def initialize(title:, app:, path:, most:, peers:)
      @title = title
      @app = app
      @path = path
      @most = most
      @peers = peers
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      Steady::CLIENT.obstacle
    end

    # The load at the top lasts twice the duration: it takes some time until all are there.
    def measure(peer, arguments)
      Server.run(peer, @app) do |server|
        await_calm(peer, server)
        first = load(server, 1, CALM_SECONDS).finish
        calm = footprint(server, arguments)
        many = load(server, arguments.connections, arguments.duration * 2)
        top = at_the_top(server, arguments)
        reports = [first, many.finish]
        stepped_back = Time.now.to_f
        last = load(server, 1, CALM_SECONDS)
        await_calm(peer, server)
        back = footprint(server, arguments)
        sample(server, { calm: calm, top: top, back: back }, [*reports, last.finish], stepped_back)
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        table << [peer.name, peer.judged(Bound.at_least(@most), fewest(list)), grown(peer, list),
                  *Array.new(3) { |number| latency(list, number) }, seconds(list, :shrunk),
                  list.map { |sample| workers_in(sample.back) }.max, *sizes(peer, list),
                  Figure.count(list.sum { |sample| sample.reports.sum(&:requests) }),
                  peer.judged(NONE_FAILED, list.sum(&:failed))]
      end
    end

    private

    def load(server, connections, seconds)
      Steady.start(server.port, @path, connections: connections, seconds: seconds)
    end

    def footprint(server, arguments)
      sleep(arguments.settle)
      Footprint.new(server.members_by_role)
    end

    # Only the least number of workers is left.
    def await_calm(peer, server)
      server.poll(SHRINK_SECONDS) { workers(server.members_by_role) <= peer.workers }
    end

    # While the load is there: when all workers are, or after its time.
    def at_the_top(server, arguments)
      server.poll(arguments.duration) { workers(server.members_by_role) >= @most }
      Footprint.new(server.members_by_role)
    end

    def workers(members)
      members.fetch("worker", []).size
    end

    def workers_in(footprint)
      footprint.roles.fetch("worker", [0]).first
    end

    def sample(server, footprints, reports, stepped_back)
      lifecycle = Lifecycle.new(server.events)
      step = reports[1].begun
      grown = lifecycle.since(step).readies.select { |at| at < stepped_back }.max
      shrunk = lifecycle.since(stepped_back).ends.max
      Sample.new(**footprints, reports: reports, grown: grown && (grown - step),
                               shrunk: shrunk && (shrunk - stepped_back))
    end

    def fewest(list)
      list.map { |sample| workers_in(sample.top) }.min
    end

    # The slowest round.
    def grown(peer, list)
      slowest = list.filter_map(&:grown).max
      slowest ? peer.judged(GROWN_SECONDS, slowest, Figure.decimals(slowest, 2)) : Figure::NONE
    end

    def seconds(list, figure)
      known = list.filter_map(&figure)
      known.empty? ? Figure::NONE : Figure.decimals(Series.new(known).median, 1)
    end

    def latency(list, number)
      Figure.decimals(median(list) { |sample| Latencies.sum(sample.reports[number].windows).percentile(99) || 0 }, 1)
    end

    def sizes(peer, list)
      ratio = median(list) { |sample| sample.back.pss.fdiv(sample.calm.pss) }
      [*%i[calm top back].map { |time| Figure.megabytes(median(list) { |sample| sample[time].pss }) },
       peer.judged(MEMORY, ratio, Figure.decimals(ratio, 2))]
    end

    def median(list, &)
      Series.new(list.map(&)).median
    end
  end
end
