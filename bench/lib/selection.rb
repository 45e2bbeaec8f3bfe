# frozen_string_literal: true

require_relative "failure"
require_relative "roster"

module Bench
  # Which servers of the table take part: those asked for that can run here.
  class Selection
    # names: server names or families, or nil for all; raises Failure for an unknown one.
    def initialize(names)
      @names = names
      known = Roster::ALL.flat_map { |peer| [peer.name, peer.family] }
      unknown = names.to_a - known
      raise Failure, "no server #{unknown.first.inspect}; there are #{known.uniq.join(', ')}" unless unknown.empty?
    end

    def from(peers)
      peers.select { |peer| wanted?(peer) && able?(peer) }
    end

    private

    def wanted?(peer)
      @names.nil? || @names.include?(peer.name) || @names.include?(peer.family)
    end

    # Says once why a server is left out.
    def able?(peer)
      @obstacles ||= {}
      @obstacles.fetch(peer.family) do |family|
        @obstacles[family] = peer.obstacle.call
        warn("#{family} is left out: #{@obstacles[family]}") if @obstacles[family]
      end
      @obstacles[peer.family].nil?
    end
  end
end
