# frozen_string_literal: true

require_relative "footprint"
require_relative "page_origin"
require_relative "server"
require_relative "steady"
require_relative "weight_table"

module Bench
  # What workers weigh after boot, and after each has served requests that make garbage and collect it.
  class WeightCase
    # boot, loaded: Footprints; report: a Steady::Report; origin: the PageOrigin of a worker after the load, or nil.
    Sample = Struct.new(:boot, :loaded, :report, :origin, keyword_init: true)
    SECONDS = 900
    QUICK = 20

    attr_reader :title, :peers

    # path: of a request that makes garbage; each: how many of them each worker serves; base, bare: what a
    # server is called, without the number of its workers, that the others are compared with, and one whose application
    # keeps nothing (or nil); needs: a callable that says why the case cannot run.
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

    # A connection for each request spreads them over the workers: a kept one would stay with one of Puma's.
    def measure(peer, arguments)
      each = arguments.quick ? @each / QUICK : @each
      Server.run(peer, @app) do |server|
        boot = footprint(server, arguments)
        report = Steady.run(server.port, @path, connections: peer.workers, seconds: SECONDS,
                                                requests: each * peer.workers, kept: false)
        Sample.new(boot: boot, loaded: footprint(server, arguments), report: report, origin: origin(peer, server))
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      WeightTable.new(samples, base: @base, bare: @bare).to_s
    end

    private

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
