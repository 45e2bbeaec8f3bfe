# frozen_string_literal: true

module Carat
  # Makes the heap fit to be shared by forked processes.
  module Warmup
    # An object is old when it has survived so many collections; the flags of old ones are not written again.
    COLLECTIONS = 4

    module_function

    # Frees what can be freed, ages the rest, and packs it where the platform can.
    def run
      return Process.warmup if Process.respond_to?(:warmup) # Ruby 3.3

      COLLECTIONS.times { GC.start }
      GC.compact if GC.respond_to?(:compact)
    rescue NotImplementedError
      # Compaction is a saving, and this platform goes without it.
    end
  end
end
