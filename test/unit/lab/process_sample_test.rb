# frozen_string_literal: true

require "fiddle"
require "minitest/autorun"
require "carat/lab/process_sample"

module Carat
  module Lab
    # What counts as allocated, with the allocator of this process.
    class ProcessSampleTest < Minitest::Test
      MALLOC = Fiddle::Function.new(Fiddle.dlopen(nil)["malloc"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP)
      SIZES = (16..1024).step(16).to_a.freeze

      # As many as glibc's cache of a thread can hold.
      EACH = 7

      def test_blocks_of_a_thread_that_are_free_do_not_count
        skip "needs an allocator with statistics" unless Native.allocator[:allocated]

        blocks = SIZES.flat_map { |bytes| Array.new(EACH) { MALLOC.call(bytes).to_i } }
        held = allocated
        blocks.each { |address| Fiddle.free(address) }

        assert_in_delta SIZES.sum * EACH, held - allocated, 20_000
      end

      private

      def allocated
        ProcessSample.take.malloc.fetch(:allocated)
      end
    end
  end
end
