# frozen_string_literal: true

require_relative "task"

module Carat
  class Reactor
    # Calls its block when so many seconds have passed, and, as `every` does, each time they have. A block that takes
    # longer than that is called again at once, but not for the times that it has missed.
    class Timer < Task
      def initialize(seconds, callback, repeats: false)
        raise ArgumentError, "not a time: #{seconds.inspect}" unless seconds.is_a?(Numeric) && seconds >= 0
        raise ArgumentError, "a period takes time" if repeats && seconds.zero?

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
