# frozen_string_literal: true

require_relative "../native"

module Carat
  module Warmup
    # Prepares the heap for sharing: afterwards, workers write to as few pages of the mold as possible.
    module HeapWarmup
      # Number of collections after which an object is old; the flags of old objects do not change any more.
      COLLECTIONS = 4
      private_constant :COLLECTIONS

      module_function

      # Frees garbage, ages objects, compacts the heap where the platform can, and returns free pages to the kernel, as
      # well as those of the main thread's stack.
      def run
        Process.respond_to?(:warmup) ? Process.warmup : settle # Ruby 3.3
        Native.trim_memory
        Native.trim_stack
      end

      def settle
        scan_strings
        COLLECTIONS.times { GC.start }
        GC.compact if GC.respond_to?(:compact)
        GC.start # frees the pages that compaction has emptied
      rescue NotImplementedError
        # This platform has no compaction.
      end

      # A String caches in its flags whether its bytes are valid.
      def scan_strings
        ObjectSpace.each_object(String, &:valid_encoding?)
      end

      private_class_method :settle, :scan_strings
    end
  end
end
