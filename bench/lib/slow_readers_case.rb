# frozen_string_literal: true

require_relative "bound"
require_relative "client_process"
require_relative "figure"
require_relative "observation"
require_relative "series"
require_relative "server"
require_relative "table"

module Bench
  # Many clients that read an answer slowly, and a fast one beside them.
  class SlowReadersCase
    # begun: seconds until the last slow client had its first byte, nil when it never had; whole: clients that got the
    # answer; front, worker: bytes that these processes grew by; probes: path => [longest seconds, requests that were
    # not answered].
    Sample = Struct.new(:begun, :whole, :front, :worker, :probes, keyword_init: true)
    HEADINGS = ["server", "slow clients", "all begun s", "whole", "edge +MB", "worker +MB",
                "fast GET of 13 bytes, max ms", "fast GET of 3 MB, max ms", "not answered"].freeze
    RATE = 100_000
    BYTES = 3 << 20
    PROBES = %w[/ /3m].freeze
    PROBE_PAUSE_SECONDS = 0.1
    FRONT_MB = Bound.at_most(48)
    # "Flat" means what it means in BigCase.
    WORKER_MB = Bound.at_most(2)
    PROBE_MS = Bound.at_most(50)
    ALL_ANSWERED = Bound.at_most(0)
    MEGABYTE = 1 << 20
    # Time to read the answer at this rate, and as much again.
    DEADLINE_SECONDS = 60

    attr_reader :title, :peers

    def initialize(title:, app:, peers:, clients:)
      @title = title
      @app = app
      @peers = peers
      @clients = clients
    end

    def measure(peer, arguments)
      programs = ["readers", *PROBES.map { "probe_clients" }]
      ClientProcess.beside(peer, @app, *programs) do |server, slow, *probes|
        seen = Observation.of(server, settle: arguments.settle) { read(slow, PROBES.zip(probes).to_h, arguments) }
        sample(peer, *seen.value, seen.growth)
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        table << [peer.name, @clients, begun(list), peer.judged(Bound.at_least(@clients), list.map(&:whole).min),
                  peer.alone? ? Figure::NONE : growth(peer, FRONT_MB, list.map(&:front)),
                  growth(peer, WORKER_MB, list.map(&:worker)),
                  *PROBES.map { |path| latency(peer, list.map { |sample| sample.probes.fetch(path).first }) },
                  peer.judged(ALL_ANSWERED, list.sum { |sample| sample.probes.values.sum(&:last) })]
      end
    end

    private

    # [what the slow readers got, path => what the probe got]
    def read(slow, probes, arguments)
      probes.each { |path, probe| probe.order(:start, path: path, pause: PROBE_PAUSE_SECONDS) }
      readings = slow.order(:read, count: @clients, path: "/3m", rate: RATE * (arguments.quick ? 10 : 1),
                                   body_bytes: BYTES, seconds: DEADLINE_SECONDS)
      [readings, probes.transform_values { |probe| probe.order(:stop) }]
    end

    def sample(peer, readings, probes, growth)
      first = readings.map { |reading| reading[:first_at] }
      steady = first.all? ? first.max : readings.map { |reading| reading[:begun_at] }.max
      Sample.new(begun: first.all? ? first.max - readings.map { |reading| reading[:begun_at] }.min : nil,
                 whole: readings.count { |reading| reading[:whole] },
                 front: growth.of(peer.front_role), worker: growth.of(peer.worker_role),
                 probes: probes.transform_values { |list| judged(list, steady, readings) })
    end

    # Probes that began when all slow clients had begun and the first had not finished.
    def judged(list, steady, readings)
      finished = readings.filter_map { |reading| reading[:last_at] }.min || Float::INFINITY
      meanwhile = list.select { |begun, _, _| begun.between?(steady, finished) }
      [meanwhile.map { |_, seconds, _| seconds }.max, meanwhile.count { |_, _, bytes| bytes.zero? }]
    end

    def begun(list)
      list.all?(&:begun) ? Figure.decimals(Series.new(list.map(&:begun)).median, 2) : "never"
    end

    # The most of all rounds.
    def growth(peer, bound, bytes)
      megabytes = bytes.max.fdiv(MEGABYTE)
      peer.judged(bound, megabytes, Figure.decimals(megabytes, 1))
    end

    # The longest of all rounds; a dash when no request fell into the time.
    def latency(peer, seconds)
      return Figure::NONE unless seconds.all?

      peer.judged(PROBE_MS, seconds.max * 1000, Figure.decimals(seconds.max * 1000, 1))
    end
  end
end
