# frozen_string_literal: true

require_relative "footprint"
require_relative "page_origin"
require_relative "server"
require_relative "steady"
require_relative "weight_table"

module Bench
  # What workers weigh after boot, and after each has served requests that make garbage and collect it.
  class WeightCase
    # boot, loaded: Footprints; served: how many requests each worker that is there in the end has answered; failed: how
    # many requests did; origin: the PageOrigin of a worker after the load, or nil.
    Sample = Struct.new(:boot, :loaded, :served, :failed, :origin, keyword_init: true)
    SECONDS = 900
    # How often the load is made until every worker has served what it should.
    LOADS = 3
    QUICK = 20

    attr_reader :title, :peers

    # path: of a request that makes garbage; each: how many of them each worker serves at least; base: the server that
    # the others are compared with, bare: one whose application keeps nothing (or nil), both by their names without the
    # number of workers; needs: a callable that says why the case cannot run.
    def initialize(title:, app:, path:, each:, peers:, base:, bare: nil, needs: -> {})
      @title = title
      @app = app
      @path = path
      @each = each
      @peers = peers
      @base = base
      @bare = bare
      @needs = needs
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      @needs.call || Steady::CLIENT.obstacle
    end

    def measure(peer, arguments)
      each = arguments.quick ? @each / QUICK : @each
      Server.run(peer, @app) do |server|
        boot = footprint(server, arguments)
        served, failed = load(peer, server, each)
        Sample.new(boot: boot, loaded: footprint(server, arguments), served: served, failed: failed,
                   origin: origin(peer, server))
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      WeightTable.new(samples, base: @base, bare: @bare).to_s
    end

    private

    # [how many requests each worker has served, how many failed]. A connection for each spreads them over the workers:
    # a kept one would stay with one of Puma's. Carat prefers the worker that was used last.
    def load(peer, server, each)
      reports = []
      served = []
      while reports.size < LOADS && (served.empty? || served.min < each)
        reports << Steady.run(server.port, @path, connections: peer.workers, seconds: SECONDS,
                                                  requests: each * peer.workers, kept: false)
        served = server.pids_by_role.fetch(peer.worker_role).map do |pid|
          reports.sum { |report| report.workers.fetch(pid, 0) }
        end
      end
      [served, reports.sum(&:failed)]
    end

    def footprint(server, arguments)
      sleep(arguments.settle)
      Footprint.new(server.members_by_role)
    end

    # Of the first worker, beside the process that workers are forked from: the role before theirs.
    def origin(peer, server)
      pids = server.pids_by_role
      parents, workers = pids.values_at(*peer.roles.keys.last(2))
      PageOrigin.of(workers.first, parents.last) if parents && workers
    rescue Errno::ENOENT, Errno::ESRCH, Errno::EACCES
      # One of them has just been replaced, or belongs to somebody else.
      nil
    end
  end
end
