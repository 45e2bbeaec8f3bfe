# frozen_string_literal: true

require_relative "http_client"

module Bench
  # The client side of idle connections, a program of its own (see ClientProcess).
  class IdleClients
    # Connections that are opened at once; below every server's backlog.
    BATCH = 250
    # Connections that are used once more at the end.
    PROBES = 20

    def initialize(port)
      @port = port
      @clients = []
    end

    # Opens so many connections, each with one GET; gives how many were answered.
    def open(count:)
      count.times.each_slice(BATCH) do |indexes|
        batch = indexes.map { |index| HttpClient.new(@port, source: HttpClient.source(index)) }
        batch.each { |client| client.ask("/") }
        @clients.concat(batch.select { |client| answered?(client) })
      end
      @clients.size
    end

    # [connections that are still open, how many of PROBES were answered again]
    def check
      [@clients.count(&:open?), answered_again]
    end

    private

    def answered_again
      step = [@clients.size / PROBES, 1].max
      @clients.each_slice(step).first(PROBES).count do |client, *|
        client.ask("/")
        answered?(client)
      rescue *HttpClient::GONE
        false
      end
    end

    def answered?(client)
      client.answer.status == 200
    rescue *HttpClient::GONE
      false
    end
  end
end
