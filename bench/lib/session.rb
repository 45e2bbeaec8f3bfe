# frozen_string_literal: true

require_relative "arguments"
require_relative "catalogue"
require_relative "machine"
require_relative "selection"
require_relative "wrk"

module Bench
  # One run of bench/run: every case in turn, its servers interleaved round by round.
  class Session
    # Gives the exit status.
    def self.start(argv)
      arguments = Arguments.parse(argv)
      session = new(arguments)
      arguments.list ? session.list : session.run(argv)
      0
    rescue Failure => e
      warn("bench: #{e.message}")
      1
    rescue Interrupt
      130
    end

    def initialize(arguments)
      @arguments = arguments
      @cases = Catalogue.cases(arguments.cases)
      @selection = Selection.new(arguments.servers)
    end

    def list
      Catalogue::CASES.each { |name, kase| puts "#{name}: #{kase.peers.map(&:name).join(', ')}" }
    end

    def run(argv)
      raise Failure, Wrk.obstacle if Wrk.obstacle

      $stdout.sync = true
      taking_part = @cases.to_h { |name, kase| [name, able?(name, kase) ? @selection.from(kase.peers) : []] }
      raise Failure, "no server can run here" if taking_part.values.all?(&:empty?)

      heading(argv, taking_part.values.flatten)
      @cases.each do |name, kase|
        peers = taking_part.fetch(name)
        puts "", "### #{kase.title} (`#{name}`)", "", kase.table(samples(name, kase, peers)) unless peers.empty?
      end
    end

    private

    # Says why a case is left out.
    def able?(name, kase)
      obstacle = kase.obstacle if kase.respond_to?(:obstacle)
      warn("#{name} is left out: #{obstacle}") if obstacle
      obstacle.nil?
    end

    def heading(argv, peers)
      puts "`#{['bench/run', *argv].join(' ')}`", "", Machine.description, "",
           peers.uniq(&:family).map { |peer| peer.version.call }.join("; ")
    end

    # Peer => its samples. Every round starts with another server.
    def samples(name, kase, peers)
      collected = peers.to_h { |peer| [peer, []] }
      @arguments.rounds.times do |round|
        peers.rotate(round).each do |peer|
          warn("#{name}: round #{round + 1} of #{@arguments.rounds}: #{peer.name}")
          collected.fetch(peer) << kase.measure(peer, @arguments)
        end
      end
      collected
    end
  end
end
