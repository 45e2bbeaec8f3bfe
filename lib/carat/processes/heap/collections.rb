# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Processes
    # Ruby's figures about its garbage collector.
    class Collections
      # The size of a slot in Ruby 3.1, whose slots all have one size.
      SLOT_BYTES = GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40)
      PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
      TELLS_MARKING = GC.stat.key?(:marking_time)
      private_constant :SLOT_BYTES, :PAGE_BYTES, :TELLS_MARKING

      # The number of collections.
      def count
        GC.count
      end

      # Whether Ruby marks in steps at the moment. What extends the heap would mark the rest at once.
      def marking?
        GC.latest_gc_info(:state) == :marking
      end

      # The number of full collections.
      def full_collections
        GC.stat(:major_gc_count)
      end

      # How many objects minor collections keep without looking at them.
      def old_objects
        GC.stat(:old_objects)
      end

      # The CPU time of all collections.
      def milliseconds
        GC.stat(:time)
      end

      # The CPU time that all collections marked; 0 before Ruby 3.3, which does not tell it.
      def marking_milliseconds
        TELLS_MARKING ? GC.stat(:marking_time) : 0
      end

      # The bytes of all slots.
      def heap_bytes
        GC.stat(:heap_eden_pages) * PAGE_BYTES
      end

      # The CPU time of the process.
      def cpu_milliseconds
        Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)
      end

      # Whether the last collection ran because no slot was free. Other collections run because the application asks
      # for them, or has allocated memory outside of the heap.
      def short_of_slots?
        GC.latest_gc_info(:gc_by) == :newobj
      end

      # Returns how many objects were allocated in each pool, by the size of its slots in bytes. Ruby 3.2 does not
      # tell that: there, the number of the pool's slots takes its place.
      def demand
        return { SLOT_BYTES => GC.stat(:total_allocated_objects) } unless GC.respond_to?(:stat_heap)

        GC.stat_heap.each_value.to_h do |pool|
          [pool[:slot_size], pool.fetch(:total_allocated_objects) { pool[:heap_eden_slots] }]
        end
      end

      # Sweeps to the end. Returns how many slots of each pool are free, by the bytes of its slots, and the bytes
      # of empty pages, which any pool may take. Ruby 3.4 or later.
      def free
        GC.config(**GC.config.slice(:rgengc_allow_full_mark))
        free = GC.stat_heap.each_value.to_h do |pool|
          used = pool[:total_allocated_objects] - pool[:total_freed_objects]
          [pool[:slot_size], pool[:heap_eden_slots] - used]
        end
        [free, GC.stat(:heap_empty_pages) * PAGE_BYTES]
      end

      # Extends the heap by pages with slots of one size, of so many bytes in all. The pages stay, and in their pool,
      # until `drop_extensions`. Returns how many objects that took.
      def extend(bytes, slot_bytes)
        before = GC.stat(:total_allocated_objects)
        (@kept ||= []) << Native.extend_heap(bytes / PAGE_BYTES, slot_bytes)
        GC.stat(:total_allocated_objects) - before
      end

      # Lets the next collections free the pages of all extensions.
      def drop_extensions
        @kept = nil
      end
    end
  end
end
