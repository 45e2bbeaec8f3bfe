# frozen_string_literal: true

require_relative "../native"
require_relative "plain_json"

module Carat
  module Processes
    # What this process says of itself when the edge asks: its Ruby, its heap, its collector and its allocator.
    class StatsReport
      PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
      private_constant :PAGE_BYTES

      # `stats` are those of the Worker; nil in a mold.
      def initialize(stats = nil)
        @stats = stats
        @counts = GC.stat
      end

      def to_h
        { ruby: RUBY_VERSION, heap:, malloc:, gc:, allocator:, threads: Thread.list.size, stats: @stats }
      end

      # Returns the JSON of #to_h.
      def to_json(*)
        PlainJSON.generate(to_h)
      end

      private

      # Slots are those of objects; a page has room for many.
      def heap
        live_slots, free_slots, pages = @counts.values_at(:heap_live_slots, :heap_free_slots, :heap_allocated_pages)
        { live_slots:, free_slots:, pages:, bytes: pages * PAGE_BYTES }
      end

      # What Ruby has allocated outside of its heap since the last collection, and since the last major one.
      def malloc
        { increase_bytes: @counts[:malloc_increase_bytes],
          oldmalloc_increase_bytes: @counts[:oldmalloc_increase_bytes] }
      end

      def gc
        { count: @counts[:count], minor: @counts[:minor_gc_count], major: @counts[:major_gc_count],
          time_share: @stats && @stats[:gc_share] }
      end

      def allocator
        Native.allocator
      end
    end
  end
end
