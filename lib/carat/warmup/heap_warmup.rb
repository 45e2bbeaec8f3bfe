# frozen_string_literal: true

require_relative "../native"

module Carat
  module Warmup
    # Prepares the heap for sharing: afterwards, workers write to as few pages of the mold as possible.
    module HeapWarmup
      # Number of collections after which an object is old; the flags of old objects do not change any more.
      COLLECTIONS = 4
      # Before Ruby 4.1, Process.warmup lets workers fill all slots that it has freed, in private memory
      # (ruby/ruby#18433).
      KEEPS_SLOTS = Process.respond_to?(:warmup) && RUBY_VERSION < "4.1"
      # Slots for each live object above which garbage is freed before Process.warmup, by whether the heap grows by
      # Carat's values. With Ruby's, a heap without garbage has up to 40 % free slots, and collections add more.
      ROOM = { true => 1.1, false => 1.67 }.freeze
      private_constant :COLLECTIONS, :KEEPS_SLOTS, :ROOM

      module_function

      # Frees garbage, ages objects, compacts the heap where the platform can, and returns free pages to the kernel, as
      # well as those of the main thread's stack. `frugal` says whether the heap grows by Carat's values.
      def run(frugal: true)
        Process.respond_to?(:warmup) ? warm_up(ROOM.fetch(frugal)) : settle
        Native.trim_memory
        Native.trim_stack
      end

      # Warms the heap up, from Ruby 3.3 on.
      def warm_up(room)
        free_garbage(room) if KEEPS_SLOTS
        Process.warmup
      end

      # Frees garbage by collections, which free pages for good; Process.warmup does not.
      def free_garbage(room)
        before = slots
        GC.start
        collect if before > GC.stat(:heap_live_slots) * room
      end

      # The slots of the heap's pages, and those that the heap may add before its next collection. Ruby 3.3 counts the
      # latter in pages.
      def slots
        stats = GC.stat
        allocatable = stats[:heap_allocatable_slots] ||
                      (stats[:heap_allocatable_pages] * GC::INTERNAL_CONSTANTS[:HEAP_PAGE_OBJ_LIMIT])
        stats[:heap_available_slots] + allocatable
      end

      def settle
        scan_strings
        collect
        GC.start # frees the pages that compaction has emptied
      end

      def collect
        COLLECTIONS.times { GC.start }
        GC.compact if GC.respond_to?(:compact)
      rescue NotImplementedError
        # This platform has no compaction.
      end

      # A String caches in its flags whether its bytes are valid.
      def scan_strings
        ObjectSpace.each_object(String, &:valid_encoding?)
      end

      private_class_method :warm_up, :free_garbage, :slots, :settle, :collect, :scan_strings
    end
  end
end
