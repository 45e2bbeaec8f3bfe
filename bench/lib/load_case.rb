# frozen_string_literal: true

require_relative "figure"
require_relative "footprint"
require_relative "server"
require_relative "table"
require_relative "wrk"

module Bench
  # Requests as fast as the server answers them, over connections that are kept.
  class LoadCase
    Sample = Struct.new(:wrk, :cpu_per_thousand, :footprint)
    HEADINGS = ["server", "req/s", "min-max", "p50 ms", "p99 ms", "CPU s/1000", "PSS MB", "of that",
                "x puma", "x hyper", "errors"].freeze
    BASES = %w[puma hyper].freeze

    attr_reader :title, :peers

    def initialize(title:, app:, path:, body_bytes:, peers:)
      @title = title
      @app = app
      @path = path
      @body_bytes = body_bytes
      @peers = peers
    end

    # One round of one server.
    def measure(peer, arguments)
      Server.run(peer, @app) do |server|
        check_answer(peer, server)
        load(server, arguments.warmup, arguments) if arguments.warmup.positive?
        cpu_before = server.tree.cpu
        wrk = load(server, arguments.duration, arguments)
        cpu = server.tree.cpu - cpu_before
        check_bytes(peer, wrk)
        Sample.new(wrk, cpu * 1000 / wrk.requests, Footprint.new(server.members_by_role))
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      rates = samples.to_h { |peer, list| [peer.name, series(list) { |sample| sample.wrk.rate }] }
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        table << [peer.name, *speed(rates.fetch(peer.name), list), *cost(list),
                  *BASES.map { |base| ratio(rates, peer, base) },
                  list.sum { |sample| sample.wrk.errors }]
      end
    end

    private

    def load(server, seconds, arguments)
      Wrk.run("http://127.0.0.1:#{server.port}#{@path}", seconds: seconds,
                                                         connections: arguments.connections,
                                                         threads: arguments.wrk_threads)
    end

    # A server that answers something else must not stand in the same table.
    def check_answer(peer, server)
      answer = HttpClient.get(server.port, @path)
      size = answer.body.bytesize
      return if answer.status == 200 && size == @body_bytes

      raise Failure, "#{peer.name} answered #{answer.status} with #{size} bytes, not 200 with #{@body_bytes}"
    end

    # Under load too, every answer must be whole.
    def check_bytes(peer, wrk)
      raise Failure, "#{peer.name} answered nothing under load" if wrk.requests.zero?
      return if wrk.bytes >= wrk.requests * @body_bytes

      raise Failure, "#{peer.name} sent #{wrk.bytes / wrk.requests} bytes an answer, not #{@body_bytes} and a head"
    end

    def speed(rates, list)
      [Figure.count(rates.median), "#{Figure.count(rates.min)}-#{Figure.count(rates.max)}",
       Figure.decimals(series(list) { |sample| sample.wrk.p50 }.median, 2),
       Figure.decimals(series(list) { |sample| sample.wrk.p99 }.median, 2)]
    end

    def cost(list)
      [Figure.decimals(series(list, &:cpu_per_thousand).median, 4),
       Figure.megabytes(series(list) { |sample| sample.footprint.pss }.median),
       Figure.roles(Footprint.median_roles(list.map(&:footprint)))]
    end

    def ratio(rates, peer, base)
      rates.key?(base) ? Figure.decimals(rates.fetch(peer.name).ratio(rates.fetch(base)), 2) : Figure::NONE
    end

    def series(list, &)
      Series.new(list.map(&))
    end
  end
end
