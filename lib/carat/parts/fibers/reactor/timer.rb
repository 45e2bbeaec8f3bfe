# frozen_string_literal: true

require_relative "task"

module Carat
  class Reactor
    # Calls its block after a time, once or repeatedly. After a block that takes longer than the period, the next call
    # follows at once; the times in between are left out.
    class Timer < Task
      def initialize(seconds, callback, repeats: false)
        raise ArgumentError, "not a number of seconds, 0 or more: #{seconds.inspect}" unless
          seconds.is_a?(Numeric) && seconds >= 0
        raise ArgumentError, "a period is longer than 0 seconds" if repeats && seconds.zero?

        super(callback)
        @seconds = seconds
        @repeats = repeats
        @due = now + seconds
      end

      private

      def wait
        sleep([@due - now, 0].max)
        @due = [@due + @seconds, now].max
      end

      def repeats?
        @repeats
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
