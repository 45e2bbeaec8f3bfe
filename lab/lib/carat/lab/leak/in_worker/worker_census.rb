# frozen_string_literal: true

require "carat/processes/measures/jit"
require_relative "../../heap"
require_relative "../../processes/process_sample"
require_relative "holdings"

module Carat
  module Lab
    module Leak
      # What this process holds at one moment, for a Census.
      module WorkerCensus
        # Bytes by which the spare room may change between two readings, and how often they are repeated at most.
        STEP = 16 * 1024
        ATTEMPTS = 3
        private_constant :STEP, :ATTEMPTS

        module_function

        # Collects garbage, and returns a Hash of Integers by name. Room that containers keep to grow does not count as
        # live: it would turn steady growth into steps. Nor does what the collector needs to mark them and notes of its
        # pages, nor what a JIT compiler notes of its code: both grow for thousands of requests, up to a bound.
        def take
          @watched ||= Heap.watch_collector || true
          sample, (objects, slots, spare) = readings
          malloc = sample.malloc
          { live: (malloc[:allocated] || 0) + slots - spare - sample.heap_notes - Heap.collector_bytes - compiler_bytes,
            objects:, active: (malloc[:active] || malloc[:mapped] || 0) + sample.heap - sample.empty_heap,
            resident: (malloc[:resident] || malloc[:mapped] || 0) + sample.heap, pss: sample.pss,
            rss: sample.rss, private: sample.private_bytes, threads: Thread.list.size,
            descriptors: Dir.children(Holdings::DESCRIPTORS).size, mappings: Holdings.mapping_count }
        end

        # The allocator rounds up what the compiler asks for, by a quarter at most.
        def compiler_bytes
          (Processes::JIT.to_h&.fetch(:metadata) || 0) * 5 / 4
        end

        # A sample, and the census of the heap that belongs to it. A table that grows between them would be counted in
        # only one of them, so they are taken again.
        def readings
          room = Heap.census.last
          ATTEMPTS.times do |attempt|
            sample = ProcessSample.take
            census = Heap.census
            return sample, census if attempt + 1 == ATTEMPTS || (census.last - room).abs < STEP

            room = census.last
          end
        end
      end
    end
  end
end
