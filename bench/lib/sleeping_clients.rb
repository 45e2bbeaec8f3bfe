# frozen_string_literal: true

require_relative "http_client"

module Bench
  # The client side of requests that sleep at once, a program of its own (see ClientProcess).
  class SleepingClients
    def initialize(port)
      @port = port
      @clients = []
    end

    # Asks for the path so many times, on a connection each, and does not wait for an answer; gives how many there are.
    def ask(count:, path:)
      count.times do |index|
        @clients << HttpClient.new(@port, source: HttpClient.source(index)).tap { |client| client.ask(path) }
      end
      @clients.size
    end

    # Reads all answers; gives the times that those with 200 tell: [[from, to], ...].
    def answers
      @clients.filter_map do |client|
        answer = client.answer
        answer.body.split.map(&:to_f) if answer.status == 200
      rescue *HttpClient::GONE
        nil
      end
    end
  end
end
