# frozen_string_literal: true

require "zlib"
require_relative "bound"
require_relative "figure"
require_relative "http_client"
require_relative "process_clock"
require_relative "series"
require_relative "server"
require_relative "table"
require_relative "wrk"

module Bench
  # The same answer in content codings, by the server or by Rack::Deflater.
  class CompressionCase
    # body_bytes: of one coded answer; cpu: seconds of all processes for 1000 requests.
    Sample = Struct.new(:wrk, :body_bytes, :cpu, keyword_init: true)
    HEADINGS = ["server", "coding", "req/s", "min-max", "p99 ms", "CPU s/1000", "body bytes", "of Puma's", "x puma",
                "x puma-t5", "errors"].freeze
    CONNECTIONS = 16
    RATIO = Bound.at_least(2.5)
    # Within 10 % of Rack::Deflater's.
    SIZE = Bound.at_most(1.1)
    BASES = %w[puma-deflater puma-t5-deflater].freeze
    CODING = "gzip"

    attr_reader :title

    # codings: server name => names of codings.
    def initialize(title:, app:, codings:)
      @title = title
      @app = app
      @codings = codings
    end

    def peers
      Roster.named(@codings.keys)
    end

    # Coding => Sample.
    def measure(peer, arguments)
      @codings.fetch(peer.name).to_h do |coding|
        [coding, Server.run(peer, @app) { |server| load(peer, server, coding, arguments) }]
      end
    end

    # samples: Peer => list of Coding => Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, rounds), table|
        rounds.first.each_key do |coding|
          table << row(peer, coding, rounds.map { |round| round.fetch(coding) }, samples)
        end
      end
    end

    private

    def load(peer, server, coding, arguments)
      body_bytes = coded_bytes(peer, server, coding)
      wrk(server, coding, arguments.warmup, arguments) if arguments.warmup.positive?
      before = cpu(server)
      wrk = wrk(server, coding, arguments.duration, arguments)
      Sample.new(wrk: wrk, body_bytes: body_bytes, cpu: (cpu(server) - before) * 1000 / wrk.requests)
    end

    def wrk(server, coding, seconds, arguments)
      Wrk.run("http://127.0.0.1:#{server.port}/", seconds: seconds, connections: CONNECTIONS,
                                                  threads: arguments.wrk_threads, accept_encoding: coding)
    end

    def cpu(server)
      server.pids_by_role.values.flatten.sum { |pid| ProcessClock.cpu(pid) }
    end

    # A server that does not compress must not stand in the same table.
    def coded_bytes(peer, server, coding)
      answer = HttpClient.get(server.port, "/", { "Accept-Encoding" => coding })
      said = answer.headers["content-encoding"]
      raise Failure, "#{peer.name} answered in #{said.inspect}, not in #{coding}" unless said == coding

      plain = HttpClient.get(server.port, "/").body
      wrong = coding == CODING && Zlib.gunzip(answer.body) != plain
      raise Failure, "#{peer.name} answered something else in #{coding}" if wrong

      answer.body.bytesize
    end

    def row(peer, coding, list, samples)
      rates = Series.new(list.map { |sample| sample.wrk.rate })
      [peer.name, coding, Figure.count(rates.median), "#{Figure.count(rates.min)}-#{Figure.count(rates.max)}",
       Figure.decimals(Series.new(list.map { |sample| sample.wrk.p99 }).median, 1),
       Figure.decimals(Series.new(list.map(&:cpu)).median, 3), Figure.count(list.last.body_bytes),
       size(peer, coding, list, samples),
       *BASES.map { |base| speed(peer, coding, rates, base(samples, base)) }, list.sum { |sample| sample.wrk.errors }]
    end

    # The Samples of that server; nil when it did not take part.
    def base(samples, name)
      samples.find { |peer, _| peer.name == name }&.last&.map { |round| round.fetch(CODING) }
    end

    def size(peer, coding, list, samples)
      theirs = BASES.filter_map { |name| base(samples, name) }.first
      judged(peer, coding, SIZE, theirs && list.last.body_bytes.fdiv(theirs.last.body_bytes))
    end

    def speed(peer, coding, rates, theirs)
      judged(peer, coding, RATIO, theirs && rates.ratio(Series.new(theirs.map { |sample| sample.wrk.rate })))
    end

    # Asked of Carat's own gzip.
    def judged(peer, coding, bound, ratio)
      return Figure::NONE unless ratio

      text = Figure.decimals(ratio, 2)
      coding == CODING && !BASES.include?(peer.name) && peer.env.empty? ? peer.judged(bound, ratio, text) : text
    end
  end
end
