# frozen_string_literal: true

module Bench
  # Clients that read large responses (see ClientProcess).
  class PacedReaders
    # Longest wait for bytes of a client without a rate.
    WAIT_SECONDS = 1

    def initialize(port)
      @port = port
    end

    # `count` GETs at once, each read at the rate (bytes a second, or nil), for `seconds` at most. Returns for each the
    # times of start, first and last byte (nil when it did not come), and whether the response was complete.
    def read(count:, path:, rate:, body_bytes:, seconds:)
      gets = Array.new(count) { PacedGet.new(@port, path, rate) }
      deadline = Bench.now + seconds
      advance(gets, rate) until gets.all?(&:finished?) || Bench.now > deadline
      gets.map do |get|
        { started: get.started, first: get.first, last: get.last, complete: get.complete?(body_bytes) }
      end
    ensure
      gets&.each(&:close)
    end

    private

    # One step of all: when bytes come for clients without a rate, by the clock for the others from their first byte on.
    def advance(gets, rate)
      due = Bench.now + (Pace.new(rate, 0).step_seconds || WAIT_SECONDS)
      gets.each { |get| get.step unless get.finished? }
      waiting = gets.reject { |get| get.finished? || (rate && get.first) }
      IO.select(waiting.map(&:socket), nil, nil, [due - Bench.now, 0].max)
    end
  end
end
