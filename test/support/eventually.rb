# frozen_string_literal: true

require "minitest"

module Support
  # Waiting with a deadline: the only place of the test suite that pauses.
  module Eventually
    # How long something may take on a busy machine. Only tests that fail wait this long.
    DEADLINE_SECONDS = 120
    PAUSE_SECONDS = 0.01

    # Something did not happen in time. No Minitest::Assertion: minitest does not count its subclasses as failures.
    class TooLate < StandardError; end

    module_function

    # Repeats the block until it is truthy, and returns its value. Assertions in it may fail until the deadline.
    # @param within [Numeric] seconds
    # @raise [TooLate, Minitest::Assertion] when the deadline passes; the block's own last assertion if it had one
    def eventually(within: DEADLINE_SECONDS, message: "the condition")
      deadline = Eventually.now + within
      loop do
        outcome, failure = Eventually.attempt { yield }
        return outcome if outcome && !failure
        raise failure || TooLate.new("#{message} did not come true within #{within} s") if Eventually.now > deadline

        sleep PAUSE_SECONDS
      end
    end

    # Monotonic time in seconds.
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def self.attempt
      [yield, nil]
    rescue Minitest::Assertion => e
      [nil, e]
    end
  end
end
