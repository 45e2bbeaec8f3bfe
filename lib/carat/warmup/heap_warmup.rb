# frozen_string_literal: true

require_relative "../native"

module Carat
  module Warmup
    # Makes the heap fit to be shared by forked processes: what is in it has been written for the last time.
    module HeapWarmup
      # An object is old when it has survived so many collections; the flags of old ones are not written again.
      COLLECTIONS = 4
      private_constant :COLLECTIONS

      module_function

      # Frees what can be freed, ages the rest, packs it where the platform can, and gives free pages back.
      def run
        Process.respond_to?(:warmup) ? Process.warmup : settle # Ruby 3.3
        Native.trim_memory
      end

      def settle
        scan_strings
        COLLECTIONS.times { GC.start }
        GC.compact if GC.respond_to?(:compact)
        GC.start # frees the pages that compaction has emptied
      rescue NotImplementedError
        # Compaction is a saving, and this platform goes without it.
      end

      # A String notes in its flags what its bytes are when it is first asked.
      def scan_strings
        ObjectSpace.each_object(String, &:valid_encoding?)
      end

      private_class_method :settle, :scan_strings
    end
  end
end
