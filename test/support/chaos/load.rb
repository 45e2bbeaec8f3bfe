# frozen_string_literal: true

require_relative "client"

module Support
  module Chaos
    # Clients that send requests at the same time, each in a thread, as often as they get responses.
    class Load
      CLIENTS = 8

      # @param random [Random] from which each client gets one of its own
      # @param kinds [Array<Symbol>] of Client::KINDS
      def initialize(server, name, random:, kinds: Client::KINDS)
        @kinds = kinds
        @stopping = @finished = false
        @clients = Array.new(CLIENTS) do |number|
          Client.new(server, "#{name}#{number}", Random.new(random.rand(1 << 32))) { @stopping }
        end
        @threads = @clients.map { |client| Thread.new { repeat(client) } }
      end

      # How many requests have been sent.
      def size
        @clients.sum { |client| client.outcomes.size }
      end

      # The pids of all workers that have responded.
      def workers
        @clients.flat_map { |client| client.outcomes.map(&:worker) }.uniq
      end

      # From now on clients may find the server gone; each ends when it does.
      def expect_stop
        @stopping = true
      end

      # Ends the clients after the response to their last request; returns all outcomes.
      def finish
        @finished = true
        join
      end

      # Waits until all clients have ended; returns all outcomes.
      def join
        @threads.each(&:value)
        @clients.flat_map(&:outcomes)
      end

      private

      def repeat(client)
        client.step(@kinds) until @finished || (@stopping && client.outcomes.last&.error)
      ensure
        client.close
      end
    end
  end
end
