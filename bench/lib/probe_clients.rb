# frozen_string_literal: true

require_relative "http_client"

module Bench
  # A client that asks for something small again and again, a program of its own (see ClientProcess).
  class ProbeClients
    # At the end, for the answer that is still to come.
    PATIENCE_SECONDS = 2

    def initialize(port)
      @port = port
    end

    # Begins to GET the path, `pause` seconds after each answer.
    def start(path:, pause:)
      @finished = Queue.new
      @taken = []
      @thread = Thread.new { ask_until_finished(path, pause) }
      true
    end

    # Gives [monotonic time, seconds, bytes] for each request; a request without an answer has 0 bytes.
    def stop
      @finished.close
      @thread.kill unless @thread.join(PATIENCE_SECONDS)
      @taken + (@asked ? [[@asked, now - @asked, 0]] : [])
    end

    private

    def ask_until_finished(path, pause)
      until @finished.closed?
        @asked = now
        bytes = ask(path)
        @taken << [@asked, now - @asked, bytes]
        @asked = nil
        sleep(pause)
      end
    ensure
      @client&.close
      @client = nil
    end

    # Over one connection, and a new one after a failure.
    def ask(path)
      @client ||= HttpClient.new(@port)
      @client.ask(path)
      @client.answer.body.bytesize
    rescue *HttpClient::GONE
      @client&.close
      @client = nil
      0
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
