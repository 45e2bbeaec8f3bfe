# frozen_string_literal: true

require_relative "bound"
require_relative "client_process"
require_relative "figure"
require_relative "roster"
require_relative "series"
require_relative "table"

module Bench
  # Requests to a server that takes its time, by one program: at once, in threads or fibers, or one after the other.
  class NetHttpCase
    # requests: how many; seconds: for all of them; bytes: what the program grew by; right: how many answers were.
    Sample = Struct.new(:requests, :seconds, :bytes, :right, keyword_init: true) do
      def rate
        requests / seconds
      end
    end
    HEADINGS = ["delay ms", "client", "requests", "seconds", "req/s", "min-max", "x threads", "x async", "+MB",
                "right"].freeze
    SERVER = Roster.named(%w[hyper]).first
    BASES = %w[ruby-threads async].freeze
    # One after the other they would take minutes: as many as fit into these seconds are made, and 3 at least.
    BLOCKING_SECONDS = 2
    MILLISECONDS = 1000

    attr_reader :title, :peers

    # delays: milliseconds => { name of a peer => bound of the ratio to it }; seconds: bound of the time.
    def initialize(title:, number:, delays:, peers:, seconds: nil)
      @title = title
      @number = number
      @delays = delays
      @peers = peers
      @seconds = seconds
    end

    # Delay => Sample, each by a program of its own.
    def measure(peer, _arguments)
      @delays.keys.to_h { |delay| [delay, run(peer, delay)] }
    end

    # samples: Peer => list of delay => Sample.
    def table(samples)
      @delays.keys.product(samples.keys).each_with_object(Table.new(HEADINGS)) do |(delay, peer), table|
        lists = samples.to_h { |one, rounds| [one.name, rounds.map { |round| round.fetch(delay) }] }
        table << [delay, peer.name, *row(peer, delay, lists)]
      end
    end

    private

    def run(peer, delay)
      requests = number(peer, delay)
      raise Failure, SERVER.obstacle.call if SERVER.obstacle.call

      ClientProcess.beside(SERVER, nil, "net_http_client") do |_, client|
        answer = client.order(:run, way: peer.name, path: "/delay/#{delay}", number: requests)
        Sample.new(requests: requests, **answer)
      end
    end

    def number(peer, delay)
      return @number unless peer.name == "ruby-blocking" && delay.positive?

      (BLOCKING_SECONDS * MILLISECONDS / delay).clamp(3, @number)
    end

    def row(peer, delay, lists)
      list = lists.fetch(peer.name)
      rates = series(list, &:rate)
      [Figure.count(list.first.requests), seconds(peer, list), Figure.count(rates.median),
       "#{Figure.count(rates.min)}-#{Figure.count(rates.max)}",
       *BASES.map { |base| ratio(peer, rates, lists[base], @delays.fetch(delay)[base]) },
       Figure.megabytes(series(list, &:bytes).median), right(peer, list)]
    end

    def seconds(peer, list)
      seconds = series(list, &:seconds).median
      text = Figure.decimals(seconds, 3)
      @seconds ? peer.judged(@seconds, seconds, text) : text
    end

    def ratio(peer, rates, base, bound)
      return Figure::NONE unless base

      ratio = rates.ratio(series(base, &:rate))
      text = Figure.decimals(ratio, 2)
      bound ? peer.judged(bound, ratio, text) : text
    end

    # The fewest of all rounds.
    def right(peer, list)
      fewest = list.map(&:right).min
      peer.judged(Bound.at_least(list.first.requests), fewest, Figure.count(fewest))
    end

    def series(list, &)
      Series.new(list.map(&))
    end
  end
end
