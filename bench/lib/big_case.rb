# frozen_string_literal: true

require_relative "bound"
require_relative "client_process"
require_relative "figure"
require_relative "observation"
require_relative "series"
require_relative "server"
require_relative "table"

module Bench
  # A large answer that the application yields in pieces.
  class BigCase
    # first_byte, seconds: of the one client; front, worker: bytes that these processes grew by; rate: bytes a second.
    Sample = Struct.new(:first_byte, :seconds, :rate, :front, :worker, :whole, keyword_init: true)
    HEADINGS = ["server", "client", "first byte ms", "seconds", "MB/s", "x puma", "edge +MB", "worker +MB",
                "whole"].freeze
    RATES = { "fast" => nil, "20 MB/s" => 20_000_000 }.freeze
    FIRST_BYTE_MS = Bound.at_most(5)
    GROWTH_MB = Bound.at_most(2)
    X_PUMA = Bound.at_least(0.8)
    PEER = "puma"
    BYTES = 1600 * 65_536
    DEADLINE_SECONDS = 60
    # A fast client is done in a tenth of a second, which alone says little.
    REPEATS = 5
    MEGABYTE = 1 << 20

    attr_reader :title, :peers

    def initialize(title:, app:, peers:)
      @title = title
      @app = app
      @peers = peers
    end

    # Client => Sample, each with a server of its own.
    def measure(peer, arguments)
      RATES.transform_values do |rate|
        ClientProcess.beside(peer, @app, "readers") do |server, clients|
          seen = Observation.of(server, settle: arguments.settle) do
            Array.new(rate ? 1 : REPEATS) { read(clients, rate) }
          end
          sample(peer, seen)
        end
      end
    end

    # samples: Peer => list of Client => Sample.
    def table(samples)
      RATES.keys.product(samples.keys).each_with_object(Table.new(HEADINGS)) do |(client, peer), table|
        list = samples.fetch(peer).map { |round| round.fetch(client) }
        table << [peer.name, client, first_byte(peer, list), median(list, 2, &:seconds), *speed(samples, peer, client),
                  peer.alone? ? Figure::NONE : growth(peer, list, &:front), growth(peer, list, &:worker),
                  peer.judged(Bound.at_least(list.size), list.count(&:whole))]
      end
    end

    private

    def read(clients, rate)
      clients.order(:read, count: 1, path: "/big", rate: rate, body_bytes: BYTES, seconds: DEADLINE_SECONDS).first
    end

    # The first byte is that of the first answer.
    def sample(peer, seen)
      seconds = Series.new(seen.value.map { |reading| reading[:last] || DEADLINE_SECONDS }).median
      Sample.new(first_byte: seen.value.first[:first] || DEADLINE_SECONDS, seconds: seconds, rate: BYTES / seconds,
                 front: seen.growth.of(peer.front_role), worker: seen.growth.of(peer.worker_role),
                 whole: seen.value.all? { |reading| reading[:whole] })
    end

    def first_byte(peer, list)
      milliseconds = Series.new(list.map { |sample| sample.first_byte * 1000 }).median
      peer.judged(FIRST_BYTE_MS, milliseconds, Figure.decimals(milliseconds, 2))
    end

    # A paced client says nothing of the server's speed.
    def speed(samples, peer, client)
      rates = samples.transform_values { |rounds| Series.new(rounds.map { |round| round.fetch(client).rate }) }
      base = rates.find { |other, _| other.name == PEER }&.last
      [Figure.count(rates.fetch(peer).median / MEGABYTE),
       RATES.fetch(client) || base.nil? ? Figure::NONE : ratio(peer, rates.fetch(peer).ratio(base))]
    end

    def ratio(peer, ratio)
      peer.judged(X_PUMA, ratio, Figure.decimals(ratio, 2))
    end

    # The most of all rounds.
    def growth(peer, list, &)
      megabytes = list.map(&).max.fdiv(MEGABYTE)
      peer.judged(GROWTH_MB, megabytes, Figure.decimals(megabytes, 2))
    end

    def median(list, places, &)
      Figure.decimals(Series.new(list.map(&)).median, places)
    end
  end
end
