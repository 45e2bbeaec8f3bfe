# frozen_string_literal: true

require_relative "../../native"
require_relative "../../log/plain_json"
require_relative "jit"

module Carat
  module Processes
    # The stats of this process for the edge: Ruby version, heap, garbage collector, allocator, and JIT.
    class StatsReport
      PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
      private_constant :PAGE_BYTES

      # `stats` come from Worker#stats; nil in a mold.
      def initialize(stats = nil)
        @stats = stats
        @counts = GC.stat
      end

      # Returns a Hash by name; sizes are bytes, `time_share` is from 0 to 1.
      def to_h
        { ruby: RUBY_VERSION, heap:, malloc:, gc:, allocator:, jit: JIT.to_h, threads: Thread.list.size, stats: @stats }
      end

      # Returns the JSON of #to_h.
      def to_json(*)
        Log::PlainJSON.generate(to_h)
      end

      private

      # The slots and pages of the heap. A slot holds one object; a page has many slots.
      def heap
        live_slots, free_slots, pages = @counts.values_at(:heap_live_slots, :heap_free_slots, :heap_allocated_pages)
        { live_slots:, free_slots:, pages:, bytes: pages * PAGE_BYTES }
      end

      # The bytes allocated outside of the heap since the last collection, and since the last full one.
      def malloc
        { increase_bytes: @counts[:malloc_increase_bytes],
          oldmalloc_increase_bytes: @counts[:oldmalloc_increase_bytes] }
      end

      def gc
        { count: @counts[:count], minor: @counts[:minor_gc_count], major: @counts[:major_gc_count],
          seconds: @stats ? @stats[:gc_seconds] : @counts[:time] / 1000.0, time_share: @stats && @stats[:gc_share] }
      end

      def allocator
        Native.allocator
      end
    end
  end
end
