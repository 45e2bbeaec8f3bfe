# frozen_string_literal: true

require "optparse"

module Bench
  # The command line of bench/run; durations are in seconds.
  class Options < Struct.new(:rounds, :duration, :warmup, :settle, :connections, :wrk_threads, :idle_connections,
                             :beside, :cases, :servers, :json, :list, :quick, keyword_init: true)
    # Name => default and help.
    NUMBERS = {
      rounds: [5, "rounds over all servers; figures are medians over them"],
      duration: [5, "seconds of load in each round"],
      warmup: [1, "seconds of load before that, not measured"],
      settle: [3, "seconds of quiet before memory is read"],
      connections: [64, "connections that carry load"],
      wrk_threads: [2, "threads of wrk"],
      idle_connections: [10_000, "idle connections to hold (at most what the descriptor limit allows)"],
      beside: [0, "busy loops that run beside each case that measures speed"]
    }.freeze
    QUICK = { rounds: 1, duration: 1, warmup: 0, settle: 1, idle_connections: 500 }.freeze

    # Parses argv; raises Failure on an unknown option or a value of the wrong type.
    def self.parse(argv)
      given = {}
      rest = parser.parse(argv, into: given)
      raise Failure, "unexpected argument: #{rest.first}" unless rest.empty?

      defaults = NUMBERS.transform_values(&:first).merge(given[:quick] ? QUICK : {})
      new(**defaults, **given.transform_keys { |name| name.to_s.tr("-", "_").to_sym }).validate
    rescue OptionParser::ParseError => e
      raise Failure, e.message
    end

    def self.parser
      OptionParser.new do |parser|
        parser.banner = "Usage: bench/run [options]"
        NUMBERS.each do |name, (default, help)|
          parser.on("--#{name.to_s.tr("_", "-")} N", Integer, "#{help} (#{default})")
        end
        parser.on("--cases A,B", Array, "run only these cases (see --list)")
        parser.on("--servers A,B", Array, "run only these servers or families, without -C (see --list)")
        parser.on("--json FILE", "also write every sample to FILE, for bench/plot")
        parser.on("--list", "list cases and servers, and exit")
        parser.on("--quick", "one short round with small bodies: shows that it runs, measures nothing")
      end
    end

    def validate
      wrong = %i[rounds duration connections wrk_threads idle_connections].find { |name| self[name] < 1 }
      raise Failure, "--#{wrong.to_s.tr("_", "-")} must be at least 1" if wrong
      raise Failure, "--wrk-threads must not exceed --connections" if wrk_threads > connections

      self
    end
  end
end
