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
      # How many slots there may be for each live object before garbage is freed ahead of Process.warmup. With Ruby's
      # own variables, a heap without garbage has up to 40 % free slots, and collections add more.
      ROOM = { true => 1.1, false => 1.67 }.freeze
      private_constant :COLLECTIONS, :KEEPS_SLOTS, :ROOM

      module_function

      # Frees garbage, ages objects, compacts the heap where the platform can, and returns free pages to the kernel, as
      # well as those of the main thread's stack. `frugal` says whether the heap grows by Carat's figures.
      def run(frugal: true)
        Process.respond_to?(:warmup) ? warm_up(ROOM.fetch(frugal)) : settle
        Native.trim_memory
        Native.trim_stack
      end

      # From Ruby 3.3 on.
      def warm_up(room)
        free_garbage(room) if KEEPS_SLOTS
        Process.warmup
      end

      # Collections free pages for good, which Process.warmup does not.
      def free_garbage(room)
        before = slots
        GC.start
        collect if before > GC.stat(:heap_live_slots) * room
      end

      # Those of the pages, and those that the heap may add before its next collection. Ruby 3.3 counts these in pages.
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
