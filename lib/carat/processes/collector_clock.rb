# frozen_string_literal: true

module Carat
  module Processes
    # What the garbage collector costs this process since it was forked: Ruby's own figures go on from the mold's.
    class CollectorClock
      MILLISECONDS = 1000.0
      private_constant :MILLISECONDS

      # To be made right after the fork.
      def initialize
        @count, @milliseconds = figures
      end

      # Returns collections, seconds of CPU that they took, seconds of CPU of the whole process, and the share of the
      # former in the latter, from 0 to 1.
      def stats
        count, milliseconds = figures
        gc = (milliseconds - @milliseconds) / MILLISECONDS
        cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        { gc_count: count - @count, gc_seconds: gc, cpu_seconds: cpu, gc_share: cpu.positive? ? gc / cpu : 0.0 }
      end

      private

      def figures
        [GC.count, GC.stat(:time)]
      end
    end
  end
end
