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
      # Ruby 3.4 frees a part of the empty pages at each Process.warmup, and forgets such slots in the next collection.
      FREES_BY_PARTS = RUBY_VERSION.start_with?("3.4")
      # How many slots there may be for each live object.
      ROOM = 1.1
      # How often Process.warmup runs at most.
      MOST = 5
      private_constant :COLLECTIONS, :KEEPS_SLOTS, :FREES_BY_PARTS, :ROOM, :MOST

      module_function

      # Frees garbage, ages objects, compacts the heap where the platform can, and returns free pages to the kernel, as
      # well as those of the main thread's stack.
      def run
        Process.respond_to?(:warmup) ? warm_up : settle
        Native.trim_memory
        Native.trim_stack
      end

      # Warms the heap up, from Ruby 3.3 on.
      def warm_up
        free_garbage if KEEPS_SLOTS
        Process.warmup
        free_rest if FREES_BY_PARTS
      end

      # Pages that a collection has freed do not count for Process.warmup. Those that garbage shares with live objects
      # are emptied by a compaction, and freed by the next collections: on Ruby 3.3 a part by each, and none below
      # RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO.
      def free_garbage
        GC.start
        return unless sparse?

        compact
        COLLECTIONS.times { GC.start if sparse? }
      end

      # Where the heap is to have so much room, by the user's variables for the garbage collector, nothing is freed.
      def free_rest
        rest = MOST - 1
        while sparse? && rest.positive?
          before = GC.stat(:heap_available_slots)
          Process.warmup
          break if GC.stat(:heap_available_slots) >= before

          rest -= 1
        end
        GC.start
      end

      def sparse? = GC.stat(:heap_available_slots) > GC.stat(:heap_live_slots) * ROOM

      def settle
        scan_strings
        collect
        GC.start # frees the pages that compaction has emptied
      end

      def collect
        COLLECTIONS.times { GC.start }
        compact
      end

      def compact
        GC.compact if GC.respond_to?(:compact)
      rescue NotImplementedError
        # This platform has no compaction.
      end

      # A String caches in its flags whether its bytes are valid.
      def scan_strings
        ObjectSpace.each_object(String, &:valid_encoding?)
      end

      private_class_method :warm_up, :free_garbage, :free_rest, :sparse?, :settle, :collect, :compact, :scan_strings
    end
  end
end
