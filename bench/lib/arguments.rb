# frozen_string_literal: true

require "optparse"
require_relative "failure"

module Bench
  # What the command line asks for; durations in seconds.
  Arguments = Struct.new(:rounds, :duration, :warmup, :settle, :connections, :wrk_threads,
                         :idle_connections, :cases, :servers, :list, :quick, keyword_init: true) do
    # Parses argv; raises Failure on an unknown option or a value of the wrong type.
    def self.parse(argv)
      arguments = new(**defaults)
      rest = arguments.parser.parse(argv)
      raise Failure, "unexpected argument: #{rest.first}" unless rest.empty?

      arguments.validate
    rescue OptionParser::ParseError => e
      raise Failure, e.message
    end

    def self.defaults
      { rounds: 5, duration: 5, warmup: 1, settle: 3, connections: 64, wrk_threads: 2,
        idle_connections: 10_000, cases: nil, servers: nil }
    end

    def validate
      wrong = %i[rounds duration connections wrk_threads idle_connections].find { |name| self[name] < 1 }
      raise Failure, "--#{wrong.to_s.tr('_', '-')} must be at least 1" if wrong
      raise Failure, "--wrk-threads must not exceed --connections" if wrk_threads > connections

      self
    end

    def parser
      OptionParser.new do |parser|
        parser.banner = "Usage: bench/run [options]"
        numbers(parser)
        lists(parser)
        parser.on("--quick", "one short round with bodies of a tenth: that it runs, no figures") { hurry }
      end
    end

    private

    def hurry
      { quick: true, rounds: 1, duration: 1, warmup: 0, settle: 1, idle_connections: 500 }
        .each { |name, value| self[name] = value }
    end

    def numbers(parser)
      { rounds: "rounds over all servers; figures are medians over them",
        duration: "seconds of load in each round", warmup: "seconds of load before that, not measured",
        settle: "seconds of quiet before memory is measured", connections: "connections that carry load",
        wrk_threads: "threads of wrk",
        idle_connections: "idle connections to hold (as many as the descriptor limit allows)" }.each do |name, help|
        flag = "--#{name.to_s.tr('_', '-')} N"
        parser.on(flag, Integer, "#{help} (#{self[name]})") { |value| self[name] = value }
      end
    end

    def lists(parser)
      parser.on("--cases A,B", Array, "only these cases (see --list)") { |names| self.cases = names }
      parser.on("--servers A,B", Array, "only these servers or families (see --list)") do |names|
        self.servers = names
      end
      parser.on("--list", "name the cases and servers, and exit") { self.list = true }
    end
  end
end
