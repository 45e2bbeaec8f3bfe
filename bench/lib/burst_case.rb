# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "http_client"
require_relative "rust_program"
require_relative "series"
require_relative "server"
require_relative "table"

module Bench
  # A number of requests, many at once and each on a connection of its own, and how long all of them take.
  class BurstCase
    # requests: how many, at_once: so many at a time; every nth (none for 0) is for `slow`, the others are for `quick`.
    Burst = Struct.new(:requests, :at_once, :every, keyword_init: true) do
      def to_s
        every.zero? ? "#{requests}, #{at_once} at once" : "1 in #{every}"
      end
    end
    # seconds: for all of them; ok: how many were answered with 200 and all of the body.
    Sample = Struct.new(:seconds, :ok)
    CLIENT = RustProgram.new("burst")
    # Opens every worker's connections and lets Rails make what it makes once.
    WARMUP = Burst.new(requests: 400, at_once: 50, every: 0)

    attr_reader :title, :peers

    # app: a rackup file; environment: a callable that gives its variables; paths: the quick one and the slow one;
    # seconds: a Bound of the time; base: the name of the peer that is to be beaten; needs: a callable that says why the
    # case cannot run.
    def initialize(title:, app:, environment:, paths:, bursts:, peers:, seconds: nil, base: nil, needs: -> {})
      @title = title
      @app = app
      @environment = environment
      @paths = paths
      @bursts = bursts
      @peers = peers
      @seconds = seconds
      @base = base
      @needs = needs
    end

    # One sentence why the case cannot run here, or nil.
    def obstacle
      @needs.call || CLIENT.obstacle
    end

    # Burst => Sample.
    def measure(peer, _arguments)
      Server.run(peer.with(@environment.call), @app) do |server|
        run(server, WARMUP, "/", "/")
        @bursts.to_h { |burst| [burst, run(server, burst, *@paths)] }
      end
    end

    # samples: Peer => list of Burst => Sample.
    def table(samples)
      headings = ["requests", "server", "seconds", "min-max", *("x #{@base}" if @base), "answered"]
      @bursts.product(samples.keys).each_with_object(Table.new(headings)) do |(burst, peer), table|
        lists = samples.to_h { |one, rounds| [one.name, rounds.map { |round| round.fetch(burst) }] }
        table << [burst.to_s, peer.name, *row(burst, peer, lists)]
      end
    end

    private

    def run(server, burst, quick, slow)
      output = CLIENT.run("127.0.0.1:#{server.port}", burst.requests, burst.at_once, quick, burst.every, slow)
      Sample.new(Float(output[/seconds=(\S+)/, 1]), Integer(output[/ok=(\d+)/, 1], 10))
    end

    def row(burst, peer, lists)
      times = series(lists.fetch(peer.name), &:seconds)
      fewest = lists.fetch(peer.name).map(&:ok).min
      text = Figure.decimals(times.median, 2)
      [@seconds ? peer.judged(@seconds, times.median, text) : text,
       "#{Figure.decimals(times.min, 2)}-#{Figure.decimals(times.max, 2)}", *(ratio(peer, times, lists) if @base),
       peer.judged(Bound.at_least(burst.requests), fewest, Figure.count(fewest))]
    end

    def ratio(peer, times, lists)
      return Figure::NONE unless lists.key?(@base)

      ratio = times.ratio(series(lists.fetch(@base), &:seconds))
      peer.judged(Bound.below(1), ratio, Figure.decimals(ratio, 2))
    end

    def series(list, &)
      Series.new(list.map(&))
    end
  end
end
