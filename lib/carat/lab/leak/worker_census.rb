# frozen_string_literal: true

require_relative "../heap"
require_relative "../process_sample"

module Carat
  module Lab
    module Leak
      # What this process holds at one moment, for a Census.
      module WorkerCensus
        module_function

        # Collects garbage, and returns a Hash of Integers by name. Room that containers keep to grow does not count as
        # live: it would turn steady growth into steps. Nor does what the collector needs to mark them.
        def take
          @watched ||= Heap.watch_collector || true
          sample = ProcessSample.take
          objects, slots, spare = Heap.census
          malloc = sample.malloc
          { live: (malloc[:allocated] || 0) + slots - spare - Heap.collector_bytes, objects:,
            active: (malloc[:active] || malloc[:mapped] || 0) + sample.heap,
            resident: (malloc[:resident] || malloc[:mapped] || 0) + sample.heap, pss: sample.pss,
            private: sample.private_bytes, threads: Thread.list.size }
        end
      end
    end
  end
end
