# frozen_string_literal: true

require "optparse"

module Bench
  # The command line of bench/run; durations are in seconds.
  Options = Struct.new(:rounds, :duration, :warmup, :settle, :connections, :wrk_threads, :idle_connections, :beside,
                       :cases, :servers, :json, :list, :quick, keyword_init: true) do
    # Parses argv; raises Failure on an unknown option or a value of the wrong type.
    def self.parse(argv)
      options = new(rounds: 5, duration: 5, warmup: 1, settle: 3, connections: 64, wrk_threads: 2,
                    idle_connections: 10_000, beside: 0)
      rest = options.parser.parse(argv)
      raise Failure, "unexpected argument: #{rest.first}" unless rest.empty?

      options.validate
    rescue OptionParser::ParseError => e
      raise Failure, e.message
    end

    def validate
      wrong = %i[rounds duration connections wrk_threads idle_connections].find { |name| self[name] < 1 }
      raise Failure, "--#{wrong.to_s.tr("_", "-")} must be at least 1" if wrong
      raise Failure, "--wrk-threads must not exceed --connections" if wrk_threads > connections

      self
    end

    def parser
      OptionParser.new do |parser|
        parser.banner = "Usage: bench/run [options]"
        numbers(parser)
        parser.on("--cases A,B", Array, "run only these cases (see --list)") { |names| self.cases = names }
        parser.on("--servers A,B", Array, "run only these servers or families (see --list)") do |names|
          self.servers = names
        end
        parser.on("--json FILE", "also write every sample to FILE, for bench/plot") { |path| self.json = path }
        parser.on("--list", "list cases and servers, and exit") { self.list = true }
        parser.on("--quick", "one short round with small bodies: shows that it runs, measures nothing") { shorten }
      end
    end

    private

    def shorten
      { quick: true, rounds: 1, duration: 1, warmup: 0, settle: 1, idle_connections: 500 }
        .each { |name, value| self[name] = value }
    end

    def numbers(parser)
      { rounds: "rounds over all servers; figures are medians over them",
        duration: "seconds of load in each round", warmup: "seconds of load before that, not measured",
        settle: "seconds of quiet before memory is read", connections: "connections that carry load",
        wrk_threads: "threads of wrk",
        idle_connections: "idle connections to hold (at most what the descriptor limit allows)",
        beside: "busy loops that run beside each speed case" }.each do |name, help|
        parser.on("--#{name.to_s.tr("_", "-")} N", Integer, "#{help} (#{self[name]})") { |value| self[name] = value }
      end
    end
  end
end
