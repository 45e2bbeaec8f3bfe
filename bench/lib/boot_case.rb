# frozen_string_literal: true

require_relative "figure"
require_relative "footprint"
require_relative "server"
require_relative "table"

module Bench
  # Memory after boot, before any load, with one worker and with more.
  class BootCase
    HEADINGS = ["server", "workers", "PSS MB", "of that", "private MB of a worker",
                "further worker: +private MB", "further worker: +PSS MB"].freeze

    attr_reader :title, :peers

    def initialize(title:, app:, peers:)
      @title = title
      @app = app
      @peers = peers
    end

    # One round of one server: its Footprint.
    def measure(peer, arguments)
      Server.run(peer, @app) do |server|
        sleep(arguments.settle)
        Footprint.new(server.members_by_role)
      end
    end

    # samples: Peer => list of Footprint.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, footprints), table|
        table << [peer.name, peer.workers, megabytes(footprints, &:pss),
                  Figure.roles(Footprint.median_roles(footprints)),
                  megabytes(footprints, &:worker_private_bytes),
                  *growth(samples, peer)]
      end
    end

    private

    # What each worker after the first added to the whole tree.
    def growth(samples, peer)
      single = samples.keys.find { |other| other.roles == peer.roles && other.workers == 1 }
      further = peer.workers - 1
      return [Figure::NONE, Figure::NONE] if single.nil? || further.zero?

      %i[private_bytes pss].map do |kind|
        added = median(samples.fetch(peer), &kind) - median(samples.fetch(single), &kind)
        Figure.megabytes(added.fdiv(further))
      end
    end

    def megabytes(footprints, &)
      Figure.megabytes(median(footprints, &))
    end

    def median(footprints, &)
      Series.new(footprints.map(&)).median
    end
  end
end
