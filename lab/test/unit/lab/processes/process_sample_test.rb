# frozen_string_literal: true

require "fiddle"
require "minitest/autorun"
require "minitest/mock"
require "carat/lab/processes/process_sample"
require "carat/native_path"

module Carat
  module Lab
    # What counts as allocated, with the allocator of this process, and as private.
    class ProcessSampleTest < Minitest::Test
      LIBC = Fiddle.dlopen(nil)
      MALLOC = Fiddle::Function.new(LIBC["malloc"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP)
      MMAP = Fiddle::Function.new(LIBC["mmap"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T, *([Fiddle::TYPE_INT] * 3),
                                                 Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
      MUNMAP = Fiddle::Function.new(LIBC["munmap"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)
      PROT_READ = 1
      MAP_PRIVATE_AND_POPULATE = 0x8002
      SIZES = (16..1024).step(16).to_a.freeze

      # As many as glibc's cache of a thread can hold.
      EACH = 7

      def test_blocks_of_a_thread_that_are_free_do_not_count
        skip "needs an allocator with statistics" unless Native.allocator[:allocated]

        freed = without_garbage do
          blocks = SIZES.flat_map { |bytes| Array.new(EACH) { MALLOC.call(bytes).to_i } }
          held = allocated
          blocks.each { |address| Fiddle.free(address) }
          held - allocated
        end

        assert_in_delta SIZES.sum * EACH, freed, 20_000
      end

      def test_pages_of_a_file_that_are_only_read_do_not_count
        File.open(NativePath.edge) do |file|
          file.fsync # A page that is not on the disk yet counts as written.
          before = private_bytes
          pages = MMAP.call(nil, file.size, PROT_READ, MAP_PRIVATE_AND_POPULATE, file.fileno, 0)

          assert_in_delta before, private_bytes, file.size / 2
        ensure
          MUNMAP.call(pages, file.size) if pages
        end
      end

      def test_empty_pages_of_the_heap_are_known
        page = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE)
        sample = GC.stub(:stat, { heap_allocated_pages: 10, heap_empty_pages: 3 }) { ProcessSample.new }

        assert_equal [10 * page, 3 * page], [sample.heap, sample.empty_heap]
      end

      private

      # Returns the block's value: what other tests have left is freed before it, and not during it.
      def without_garbage
        GC.start
        GC.disable
        yield
      ensure
        GC.enable
      end

      def private_bytes
        ProcessSample.take.private_bytes
      end

      def allocated
        ProcessSample.take.malloc.fetch(:allocated)
      end
    end
  end
end
