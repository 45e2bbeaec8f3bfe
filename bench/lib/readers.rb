# frozen_string_literal: true

require_relative "reading"

module Bench
  # Clients that read large answers, a program of its own (see ClientProcess).
  class Readers
    # Waiting for bytes of a client without a rate.
    WAIT_SECONDS = 1

    def initialize(port)
      @port = port
    end

    # So many GETs at once, each read at the rate (bytes a second, or nil), for `seconds` at most. Gives for each the
    # seconds to its first and last byte (nil when it did not come), its bytes and whether it was whole.
    def read(count:, path:, rate:, body_bytes:, seconds:)
      readings = Array.new(count) { Reading.new(@port, path, rate) }
      deadline = now + seconds
      advance(readings, rate) until readings.all?(&:finished?) || now > deadline
      readings.map { |reading| told(reading, body_bytes) }
    ensure
      readings&.each(&:close)
    end

    private

    # One step of all. Clients without a rate step as bytes come, the others in steps of time from their first byte on.
    def advance(readings, rate)
      due = now + (Pace.new(rate, 0).step_seconds || WAIT_SECONDS)
      readings.each { |reading| reading.step unless reading.finished? }
      waiting = readings.reject { |reading| reading.finished? || (rate && reading.first) }
      IO.select(waiting.map(&:socket), nil, nil, [due - now, 0].max)
    end

    def told(reading, body_bytes)
      { first: reading.first && (reading.first - reading.begun), last: reading.last && (reading.last - reading.begun),
        begun_at: reading.begun, first_at: reading.first, last_at: reading.last,
        bytes: reading.bytes, whole: reading.whole?(body_bytes) }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
