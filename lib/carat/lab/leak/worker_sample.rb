# frozen_string_literal: true

require_relative "../../native"
require_relative "../heap"

module Carat
  module Lab
    module Leak
      # The memory of this process at one moment, for a Census.
      module WorkerSample
        # What a collection frees may need further ones: finalizers run between them.
        COLLECTIONS = 3

        # The bytes of a page of Ruby's heap.
        PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 64 * 1024)

        ROLLUP = "/proc/self/smaps_rollup"
        private_constant :COLLECTIONS, :ROLLUP

        module_function

        # Collects garbage, returns free memory to the kernel, and returns a Hash of Integers by name. Room that
        # containers keep to grow does not count as live: it would turn steady growth into steps. Nor does what the
        # collector needs to mark them.
        def take
          @watched ||= Heap.watch_collector || true
          COLLECTIONS.times { GC.start }
          Native.trim_memory
          objects, slots, spare = Heap.census
          malloc = Native.allocator
          pages = GC.stat(:heap_allocated_pages) * PAGE_BYTES
          allocated = malloc[:allocated] || 0
          { live: allocated + slots - spare - Heap.collector_bytes, objects:,
            active: (malloc[:active] || malloc[:mapped] || 0) + pages,
            resident: (malloc[:resident] || malloc[:mapped] || 0) + pages, pss:, threads: Thread.list.size }
        end

        def pss
          File.read(ROLLUP)[/^Pss: +(\d+) kB$/, 1].to_i * 1024
        end
        private_class_method :pss
      end
    end
  end
end
