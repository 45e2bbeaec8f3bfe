# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "lifecycle"
require_relative "series"
require_relative "server"
require_relative "table"

module Bench
  # How long it takes from the order to fork until a worker of a large application serves.
  class ForkTimeCase
    # bytes: what the mold weighs (Pss and its workers' share of it); boots: milliseconds, the first boot's excepted.
    Sample = Struct.new(:bytes, :boots, keyword_init: true)
    HEADINGS = ["server", "PSS MB of mold and workers", "forks", "median ms", "most ms"].freeze
    FORKS = 20
    MILLISECONDS = Bound.below(100)
    READY_SECONDS = 20

    attr_reader :title, :peers

    # environment: variables of the application.
    def initialize(title:, app:, environment:, peers:)
      @title = title
      @app = app
      @environment = environment
      @peers = peers
    end

    # Kills the worker, and waits for the next, again and again.
    def measure(peer, arguments)
      Server.run(peer.with(@environment), @app) do |server|
        sleep(arguments.settle)
        bytes = server.members_by_role.fetch_values("mold", peer.worker_role).flatten.sum { |member| member.memory.pss }
        forks = arguments.quick ? FORKS / 5 : FORKS
        forks.times { |number| replace(peer, server, number + 1) }
        Sample.new(bytes: bytes, boots: boots(server).drop(1))
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        times = Series.new(list.flat_map(&:boots))
        table << [peer.name, Figure.megabytes(Series.new(list.map(&:bytes)).median), list.sum { |one| one.boots.size },
                  Figure.decimals(times.median, 0), peer.judged(MILLISECONDS, times.max, times.max)]
      end
    end

    private

    def replace(peer, server, number)
      Process.kill(:KILL, server.pids_by_role.fetch(peer.worker_role).first)
      server.poll(READY_SECONDS) { boots(server).size > number } ||
        raise(Failure, "#{peer.name}: no worker after #{READY_SECONDS} s")
    end

    def boots(server)
      Lifecycle.new(server.events).boots
    end
  end
end
