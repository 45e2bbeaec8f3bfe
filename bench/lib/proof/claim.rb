# frozen_string_literal: true

module Bench
  # What Carat claims, and the run of bench/run that shows it: the claim holds when Carat's rows reach the targets of
  # its cases.
  #
  # sentence: what is claimed; arguments: of bench/run.
  class Claim < Struct.new(:name, :sentence, :arguments, keyword_init: true)
    # Each takes at most five minutes on two cores.
    ALL = [
      new(name: "deploy", arguments: "--cases deploy",
          sentence: "five restarts and five killed workers close none of 1000 sockets, fail no page, lose no job"),
      new(name: "memory", arguments: "--cases whole_memory",
          sentence: "a whole Rails application, with its jobs and its cable, takes at most 0.6 of Puma's memory"),
      new(name: "small", arguments: "--cases whole256 --servers carat-t3,puma-t3",
          sentence: "in 256 MB, three restarts lose no request, no job, and no message"),
      new(name: "overload", arguments: "--rounds 1 --cases overload --servers carat-t5,puma-t5",
          sentence: "at up to five times the capacity, 0.9 of what is possible is served in time"),
      new(name: "gc", arguments: "--rounds 1 --duration 3 --cases gc --servers carat-cycle-t3-w2,puma",
          sentence: "beside a large heap, at most one request in 2000 waits for a full garbage collection"),
      new(name: "upload",
          arguments: "--rounds 1 --cases uploads50,upload3gb --servers carat,-carat-stream,puma,iodine,falcon",
          sentence: "fifty uploads of 20 MB at once take 18 MB, one of 3 GB takes 2, and the worker at most 1")
    ].freeze

    # Raises Failure when there is none of this name.
    def self.named(name)
      ALL.find { |claim| claim.name == name } ||
        raise(Failure, "no claim #{name.inspect}; there are #{ALL.map(&:name).join(", ")}")
    end

    # The run that shows it.
    def command = "bench/run #{arguments}"

    def options = Options.parse(arguments.split)

    # Sentences that say what this machine lacks to show it.
    def obstacles
      servers = %w[carat puma].map { |name| Servers::ALL.fetch(name).obstacle }
      [Wrk.method(:obstacle), *servers, *Cases.named(options.cases).map(&:needs)].compact.filter_map(&:call)
    end

    # Sentences that say which part does not hold. rows: a Hash of Rows by Case.
    def misses(rows)
      shown = rows.select { |_, list| list.any? { |row| row.spec.carat? } }
      absent = options.cases - shown.keys.map(&:name)
      absent.map { |name| "#{name}: Carat has no figures" } + shown.flat_map { |kase, list| kase.misses(list) }
    end
  end
end
