# frozen_string_literal: true

module Carat
  module Processes
    # The share of one processor that this process has used in the last seconds.
    class CpuLoad
      # The least time to measure over, in seconds.
      SECONDS = 1
      private_constant :SECONDS

      # The block returns the time, and the CPU time of the process, both in seconds.
      def initialize(&clocks)
        @clocks = clocks || method(:clocks)
        @older = @newer = @clocks.call
      end

      # Begins to measure anew, at most once in `SECONDS`. Where the worker calls this seldom, as it collects seldom,
      # the load is that of a longer time.
      def note
        now = @clocks.call
        @older, @newer = @newer, now if now.first - @newer.first >= SECONDS
      end

      # The share in percent, an Integer.
      def percent
        wall, cpu = @clocks.call.zip(@older).map { |now, older| now - older }
        wall.positive? ? (100 * cpu / wall).round.clamp(0, 100) : 0
      end

      private

      def clocks
        [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID].map { |clock| Process.clock_gettime(clock) }
      end
    end
  end
end
