# frozen_string_literal: true

module Bench
  # A rate in bytes a second that a client keeps from its beginning on; nil is no limit.
  class Pace
    # What a paced client moves at once, if its steps in time get neither too many nor too large.
    STEP_BYTES = 32 * 1024
    STEP_SECONDS = (0.002..0.05)
    # Bytes that a client without a limit moves at once.
    UNLIMITED_BYTES = 1 << 20

    def initialize(rate, begun)
      @rate = rate
      @begun = begun
    end

    # Seconds between two steps; nil without a limit.
    def step_seconds
      @rate && STEP_BYTES.fdiv(@rate).clamp(STEP_SECONDS)
    end

    # Bytes to move at once.
    def piece_bytes
      @rate ? [(@rate * step_seconds).ceil, 1].max : UNLIMITED_BYTES
    end

    # Bytes that may be moved at this time, when so many have been.
    def allowance(moved, now)
      @rate ? [((now - @begun) * @rate).floor - moved, 0].max : UNLIMITED_BYTES
    end

    # Seconds to wait until so many bytes may have been moved.
    def delay(moved, now)
      @rate ? [@begun + moved.fdiv(@rate) - now, 0].max : 0
    end
  end
end
