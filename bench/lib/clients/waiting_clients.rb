# frozen_string_literal: true

module Bench
  # Clients that wait for responses that take long (see ClientProcess).
  class WaitingClients
    def initialize(port)
      @port = port
    end

    # Sends `count` requests, each on a connection of its own, and does not wait for a response.
    def send_all(count:, path:)
      @clients = Array.new(count) do |number|
        HttpClient.new(@port, number: number).tap { |client| client.request(path) }
      end
      count
    end

    # Reads all responses; returns the times in the bodies of those with 200: [[from, to], ...].
    def times
      @clients.filter_map do |client|
        response = client.response
        response.body.split.map(&:to_f) if response.status == 200
      rescue *HttpClient::GONE
        nil
      end
    end
  end
end
