# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Lab
    module Weigh
      # The memory of this process at one moment.
      module ProcessSample
        # What a collection frees may need further ones: finalizers run between them.
        COLLECTIONS = 3

        # The bytes of a page of Ruby's heap.
        PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 64 * 1024)

        ROLLUP = "/proc/self/smaps_rollup"
        private_constant :COLLECTIONS, :ROLLUP

        module_function

        # Collects garbage, returns free memory to the kernel, and returns a Hash of Integers in bytes: `pss`, its part
        # `files` (mapped files), `heap` (pages of Ruby's heap), `allocated` by malloc, and `active`, the pages of that.
        def take
          COLLECTIONS.times { GC.start }
          Native.trim_memory
          allocator = Native.allocator
          { heap: GC.stat(:heap_allocated_pages) * PAGE_BYTES, allocated: allocator[:allocated],
            active: allocator[:active], **resident }
        end

        def resident
          rollup = File.read(ROLLUP)
          { pss: kilobytes(rollup, "Pss"), files: kilobytes(rollup, "Pss_File") }
        end

        def kilobytes(rollup, name)
          rollup[/^#{name}: +(\d+) kB$/, 1].to_i * 1024
        end
        private_class_method :resident, :kilobytes
      end
    end
  end
end
