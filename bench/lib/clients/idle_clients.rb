# frozen_string_literal: true

module Bench
  # Clients that keep idle connections, or wait for responses that take long (see ClientProcess).
  class IdleClients
    # Connections opened at once; below every server's backlog.
    BATCH = 250
    # Connections that are used once more at the end.
    PROBES = 20

    def initialize(port)
      @port = port
      @clients = []
    end

    # Opens `count` connections, each with one GET; returns how many got 200.
    def open(count:, tls: false)
      count.times.each_slice(BATCH) do |numbers|
        batch = numbers.map { |number| send_request(number, "/", tls: tls) }
        @clients.concat(batch.select { |client| ok?(client) })
      end
      @clients.size
    end

    # [connections that are still open, how many of PROBES got another 200]
    def check = [@clients.count(&:open?), ok_again]

    # Sends `count` requests, each on a connection of its own, and does not wait for a response.
    def send_all(count:, path:)
      @clients = Array.new(count) { |number| send_request(number, path) }
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

    private

    def send_request(number, path, tls: false)
      HttpClient.new(@port, number: number, tls: tls).tap { |client| client.request(path) }
    end

    def ok_again
      step = [@clients.size / PROBES, 1].max
      @clients.each_slice(step).first(PROBES).count do |client, *|
        client.request("/")
        ok?(client)
      rescue *HttpClient::GONE
        false
      end
    end

    def ok?(client)
      client.response.status == 200
    rescue *HttpClient::GONE
      false
    end
  end
end
