# frozen_string_literal: true

module Carat
  module Processes
    # Measures the garbage collections of this process since the fork. Ruby's own counters include those of the mold.
    class CollectorClock
      MILLISECONDS = 1000.0
      private_constant :MILLISECONDS

      # Notes the counters at the start. To be created right after the fork.
      def initialize
        @count, @milliseconds = counters
        @allocated = GC.stat(:total_allocated_objects)
      end

      # Returns figures since the fork: how many objects were allocated, the number of collections, the CPU time of the
      # collections and of the process in seconds, and the collections' share of that CPU time, from 0 to 1.
      def stats
        count, milliseconds = counters
        gc = (milliseconds - @milliseconds) / MILLISECONDS
        cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        { allocated_objects: GC.stat(:total_allocated_objects) - @allocated,
          gc_count: count - @count, gc_seconds: gc, cpu_seconds: cpu, gc_share: cpu.positive? ? gc / cpu : 0.0 }
      end

      private

      def counters
        [GC.count, GC.stat(:time)]
      end
    end
  end
end
