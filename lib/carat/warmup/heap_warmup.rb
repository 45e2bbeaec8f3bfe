# frozen_string_literal: true

require_relative "../native"

module Carat
  module Warmup
    # Prepares the heap of a mold, so that its workers write to as few shared pages as possible.
    module HeapWarmup
      # The number of collections after which an object is old. The flags of an old object no longer change.
      COLLECTIONS = 4
      # Whether Process.warmup keeps the slots that it has freed, which workers would fill, in private memory: before
      # Ruby 4.1 it does (ruby/ruby#18433).
      KEEPS_SLOTS = Process.respond_to?(:warmup) && RUBY_VERSION < "4.1"
      # Whether each Process.warmup frees only a part of the empty pages, as in Ruby 3.4, where the next collection
      # forgets these slots.
      FREES_BY_PARTS = RUBY_VERSION.start_with?("3.4")
      # The most slots for each live object; with more, the heap counts as sparse.
      ROOM = 1.1
      # The same after Process.warmup.
      LAST_ROOM = 1.02
      # The most times that Process.warmup runs.
      MOST = 10
      private_constant :COLLECTIONS, :KEEPS_SLOTS, :FREES_BY_PARTS, :ROOM, :LAST_ROOM, :MOST

      module_function

      # Frees garbage, ages objects, compacts the heap if the platform can, and returns free pages to the kernel: those
      # of the heap and those of the main thread's stack.
      def run
        Process.respond_to?(:warmup) ? warm_up : settle
        Native.trim_memory
        Native.trim_stack
      end

      # Prepares the heap with Process.warmup, which Ruby has from 3.3 on.
      def warm_up
        free_garbage if KEEPS_SLOTS
        Process.warmup
        free_rest if FREES_BY_PARTS
      end

      # Frees empty pages by collections, because Process.warmup keeps the slots of the pages that it frees itself.
      # Pages that have both garbage and live objects are emptied by a compaction, and freed by the collections after
      # it. On Ruby 3.3, each collection frees a part, and none below RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO.
      def free_garbage
        GC.start
        return unless sparse?

        compact
        COLLECTIONS.times { GC.start if sparse? }
      end

      # Repeats Process.warmup while it frees slots. It frees none if the user's variables for the garbage collector ask
      # for so much room.
      def free_rest
        rest = MOST - 1
        while sparse?(LAST_ROOM) && rest.positive?
          before = GC.stat(:heap_available_slots)
          Process.warmup
          break if GC.stat(:heap_available_slots) >= before

          rest -= 1
        end
        GC.start
      end

      def sparse?(room = ROOM) = GC.stat(:heap_available_slots) > GC.stat(:heap_live_slots) * room

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

      # Makes each String note in its flags whether its bytes are valid: otherwise a worker would write there when it
      # first asks.
      def scan_strings
        ObjectSpace.each_object(String, &:valid_encoding?)
      end

      private_class_method :warm_up, :free_garbage, :free_rest, :sparse?, :settle, :collect, :compact, :scan_strings
    end
  end
end
