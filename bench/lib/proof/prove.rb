# frozen_string_literal: true

require "optparse"

module Bench
  # The command line of bench/prove.
  module Prove
    # Statuses besides 0, with which a claim holds.
    FAILS = 1
    CANNOT_RUN = 2

    # Returns the exit status.
    def self.start(argv)
      words = parser.parse(argv)
      raise Failure, "one claim at a time: bench/prove --list names them" unless words.size == 1

      prove(Claim.named(words.first))
    rescue Failure, OptionParser::ParseError => e
      warn("bench/prove: #{e.message}")
      CANNOT_RUN
    rescue Interrupt
      130
    end

    def self.parser
      OptionParser.new do |parser|
        parser.banner = <<~TEXT
          Usage: bench/prove CLAIM

          Measures Carat beside Puma, and beside others that are installed, for at most five minutes. Exits with 1 if the
          claim does not hold, and with 2 if the machine cannot show it. The first run makes a Rails application, or
          compiles a client, before.

        TEXT
        parser.on("--list", "list the claims, and exit") { list && exit }
      end
    end

    def self.list
      Claim::ALL.each { |claim| puts "#{claim.name}: #{claim.sentence}\n  #{claim.command}" }
    end

    def self.prove(claim)
      obstacles = claim.obstacles
      raise Failure, obstacles.join("; ") if obstacles.any?

      begun = Bench.now
      puts "bench/prove #{claim.name}: #{claim.sentence}?", ""
      misses = claim.misses(Run.new(claim.options).measure(claim.command))
      puts "", verdict(claim, misses, Bench.now - begun)
      misses.empty? ? 0 : FAILS
    end

    def self.verdict(claim, misses, seconds)
      return format("It holds: %s (%d s).", claim.sentence, seconds) if misses.empty?

      format("It does not hold: %s (%d s).", misses.join("; "), seconds)
    end

    private_class_method :parser, :list, :prove, :verdict
  end
end
