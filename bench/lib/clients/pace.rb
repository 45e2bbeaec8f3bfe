# frozen_string_literal: true

module Bench
  # A rate in bytes a second that a client keeps from its start; nil is no limit.
  class Pace
    # What a paced client moves at once, unless its steps in time would be too many or too long.
    STEP_BYTES = 32 * 1024
    STEP_SECONDS = (0.002..0.05)
    # What a client without a limit moves at once.
    UNLIMITED_BYTES = 1 << 20

    def initialize(rate, started)
      @rate = rate
      @started = started
    end

    # Seconds between two steps; nil without a limit.
    def step_seconds = @rate && STEP_BYTES.fdiv(@rate).clamp(STEP_SECONDS)

    # Bytes to move at once.
    def step_bytes = @rate ? [(@rate * step_seconds).ceil, 1].max : UNLIMITED_BYTES

    # Bytes that may be moved now, when `moved` have been.
    def allowance(moved, now) = @rate ? [((now - @started) * @rate).floor - moved, 0].max : UNLIMITED_BYTES

    # Seconds to wait until `moved` bytes are due.
    def delay(moved, now) = @rate ? [@started + moved.fdiv(@rate) - now, 0].max : 0
  end
end
