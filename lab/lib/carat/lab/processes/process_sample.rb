# frozen_string_literal: true

require "carat/native"
require_relative "../heap"

module Carat
  module Lab
    # The memory of this process at one moment, after a complete collection.
    class ProcessSample
      # What a collection frees may need further ones: finalizers run between them.
      COLLECTIONS = 3

      # The bytes of a page of Ruby's heap.
      PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 64 * 1024)

      # What Ruby notes of each page, beside it: so many bitmaps, and some words; rounded as jemalloc does.
      BITMAPS = RUBY_VERSION < "3.3" ? 5 : 8
      WORDS_BYTES = 72
      NOTE_BYTES = ((BITMAPS * GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_BITMAP_SIZE, 0)) + WORDS_BYTES).then do |bytes|
        step = 1 << ((bytes - 1).bit_length - 3)
        bytes.fdiv(step).ceil * step
      end

      ROLLUP = "/proc/self/smaps_rollup"
      private_constant :COLLECTIONS, :PAGE_BYTES, :BITMAPS, :WORDS_BYTES, :NOTE_BYTES, :ROLLUP

      # Collects garbage, returns free memory to the kernel, and returns the sample. The cache of this thread is full in
      # each sample, because glibc counts it as allocated.
      def self.take
        COLLECTIONS.times { GC.start }
        Heap.fill_thread_cache
        Native.trim_memory
        new
      end

      # Bytes of malloc by name, as Native.allocator returns them.
      attr_reader :malloc

      def initialize
        @malloc = Native.allocator
        @pages, *empty = GC.stat.values_at(:heap_allocated_pages, :heap_empty_pages, :heap_tomb_pages)
        @empty = empty.compact.sum
        @rollup = File.read(ROLLUP)
      end

      # Bytes of the pages of Ruby's heap.
      def heap
        @pages * PAGE_BYTES
      end

      # Bytes of those of them that have no objects, and wait for some.
      def empty_heap
        @empty * PAGE_BYTES
      end

      # Bytes of malloc that Ruby takes for what it notes of its heap's pages.
      def heap_notes
        @pages * NOTE_BYTES
      end

      # The proportional set size in bytes.
      def pss
        kilobytes("Pss")
      end

      # Bytes of all pages that the process has, shared or not.
      def rss
        kilobytes("Rss")
      end

      # Its part of mapped files.
      def pss_of_files
        kilobytes("Pss_File")
      end

      # Bytes of pages that this process has written to, and no other one maps. Pages of files that it has only read do
      # not count: they become private when another process ends.
      def private_bytes
        kilobytes("Private_Dirty")
      end

      private

      def kilobytes(name)
        @rollup[/^#{name}: +(\d+) kB$/, 1].to_i * 1024
      end
    end
  end
end
