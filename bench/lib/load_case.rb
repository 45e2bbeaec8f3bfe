# frozen_string_literal: true

require_relative "comparison"
require_relative "footprint"
require_relative "load_table"
require_relative "page"
require_relative "server"
require_relative "wrk"

module Bench
  # Requests as fast as the server answers them, over connections that are kept.
  class LoadCase
    Sample = Struct.new(:wrk, :cpu_per_thousand, :footprint)
    PEERS = %w[puma hyper].map { |base| Comparison.new(base: base, figure: :rate) }.freeze

    attr_reader :title, :peers

    # connections: how many carry load, nil for what the command line says; rate: a Bound of the requests a second.
    def initialize(title:, page:, peers:, comparisons: PEERS, connections: nil, rate: nil)
      @title = title
      @page = page
      @peers = peers
      @comparisons = comparisons
      @connections = connections
      @rate = rate
    end

    # One round of one server.
    def measure(peer, arguments)
      Server.run(@page.on(peer), @page.app) do |server|
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
      LoadTable.new(samples, @comparisons, @rate).to_s
    end

    private

    def load(server, seconds, arguments)
      Wrk.run("http://127.0.0.1:#{server.port}#{@page.path}", seconds: seconds,
                                                              connections: @connections || arguments.connections,
                                                              threads: arguments.wrk_threads)
    end

    # A server that answers something else must not stand in the same table.
    def check_answer(peer, server)
      answer = HttpClient.get(server.port, @page.path)
      size = answer.body.bytesize
      return if answer.status == 200 && size == @page.bytes

      raise Failure, "#{peer.name} answered #{answer.status} with #{size} bytes, not 200 with #{@page.bytes}"
    end

    # Under load too, every answer must be whole.
    def check_bytes(peer, wrk)
      raise Failure, "#{peer.name} answered nothing under load" if wrk.requests.zero?
      return if wrk.bytes >= wrk.requests * @page.bytes

      raise Failure, "#{peer.name} sent #{wrk.bytes / wrk.requests} bytes an answer, not #{@page.bytes} and a head"
    end
  end
end
