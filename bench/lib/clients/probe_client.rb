# frozen_string_literal: true

module Bench
  # A client that sends a small request again and again (see ClientProcess).
  class ProbeClient
    # For the last response.
    JOIN_SECONDS = 2

    def initialize(port)
      @port = port
    end

    # Starts to GET the path, `pause` seconds after each response.
    def start(path:, pause:)
      @finished = Queue.new
      @probes = []
      @thread = Thread.new { probe_until_finished(path, pause) }
      true
    end

    # Returns [monotonic time, seconds, bytes] for each request; 0 bytes when there was no response.
    def stop
      @finished.close
      @thread.kill unless @thread.join(JOIN_SECONDS)
      @probes + (@sent ? [[@sent, Bench.now - @sent, 0]] : [])
    end

    private

    def probe_until_finished(path, pause)
      until @finished.closed?
        @sent = Bench.now
        bytes = get(path)
        @probes << [@sent, Bench.now - @sent, bytes]
        @sent = nil
        sleep(pause)
      end
    ensure
      disconnect
    end

    # Over one connection, and a new one after a failure.
    def get(path)
      @client ||= HttpClient.new(@port)
      @client.request(path)
      @client.response.body.bytesize
    rescue *HttpClient::GONE
      disconnect
      0
    end

    def disconnect
      @client&.close
      @client = nil
    end
  end
end
