# frozen_string_literal: true

module Carat
  module Processes
    # How far the heap may grow while a full collection is due. Beyond that, the collection is left to Ruby.
    class GrowthBound
      # The most slots: two and a half of Ruby's steps. A worker that can be emptied grows by one or two until then; one
      # that cannot keeps them all.
      MOST_SLOTS = 50_000
      # The most bytes of slots, which counts where they are large: one step of the largest ones. With less, the wait of
      # a worker that uses those would end within the first step.
      MOST_BYTES = 20_000 * 640
      # The most bytes from malloc: half of the growth after which Ruby itself runs a collection.
      MALLOC_BYTES = 64 * 1024 * 1024
      private_constant :MOST_SLOTS, :MOST_BYTES, :MALLOC_BYTES

      # `size` is the RubyMarks::Size of the heap when the collection becomes due.
      def initialize(size)
        @size = size
      end

      # Whether a heap of this size has more slots.
      def grown?(now)
        now.slots > @size.slots
      end

      # Whether a heap of this size has grown by more than the bound.
      def exceeded?(now)
        now.slots - @size.slots > MOST_SLOTS || now.bytes - @size.bytes > MOST_BYTES ||
          now.malloc - @size.malloc > MALLOC_BYTES
      end
    end
  end
end
