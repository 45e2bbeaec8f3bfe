# frozen_string_literal: true

require_relative "../native"

module Carat
  module Processes
    # The room for garbage in the heap of a worker. It begins small, since each page that garbage fills is the worker's
    # own. Where objects outlive several requests, collections in a small heap free little and come often; the heap
    # then gets more room, step by step. See docs/decisions/0057-room-for-those-who-need-it.md.
    class HeapRoom
      # The share of CPU time that collections for want of slots may take, from 0 to 1.
      SHARE = 0.3
      # How many of them are looked at together.
      COLLECTIONS = 8
      # The memory that a step adds: 60 000 of Ruby's smallest slots.
      STEP_BYTES = 2_400_000
      # The heap grows by at most this many steps.
      MAX_STEPS = 10
      private_constant :SHARE, :COLLECTIONS, :STEP_BYTES, :MAX_STEPS

      # How often the heap has been extended.
      attr_reader :steps

      # `collector` answers what Collections does.
      def initialize(collector = Collections.new)
        @collector = collector
        @steps = 0
        begin_anew
      end

      # Call it when the garbage collector has run, between two requests.
      def review
        took = @collector.milliseconds - @milliseconds
        @milliseconds += took
        return unless @collector.short_of_slots?

        @count += 1
        @taken += took
        return if @count < COLLECTIONS

        extend_heap if @steps < MAX_STEPS && @taken > (@collector.cpu_milliseconds - @cpu) * SHARE
        begin_anew
      end

      private

      def begin_anew
        @count = @taken = 0
        @milliseconds = @collector.milliseconds
        @cpu = @collector.cpu_milliseconds
      end

      # Each pool of slots gets its part of the step: the first one that is full makes Ruby collect.
      def extend_heap
        @steps += 1
        pools = @collector.demand
        bytes = pools.sum { |slot_bytes, objects| slot_bytes * objects }
        pools.each { |slot_bytes, objects| @collector.extend(STEP_BYTES * objects / bytes, slot_bytes) }
      end

      # Ruby's figures about its garbage collector.
      class Collections
        # Ruby 3.1 has slots of one size.
        SLOT_BYTES = GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40)
        private_constant :SLOT_BYTES

        # CPU time of all collections.
        def milliseconds
          GC.stat(:time)
        end

        # CPU time of the process.
        def cpu_milliseconds
          Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)
        end

        # Whether the last collection ran because no slot was free. Others run because the application asked for them,
        # or has allocated memory outside of the heap.
        def short_of_slots?
          GC.latest_gc_info(:gc_by) == :newobj
        end

        # Returns how many objects each pool has been asked for, by the size of its slots in bytes; on Ruby 3.2, which
        # does not say so, how many slots it has.
        def demand
          return { SLOT_BYTES => 1 } unless GC.respond_to?(:stat_heap)

          GC.stat_heap.each_value.to_h do |pool|
            [pool[:slot_size], pool.fetch(:total_allocated_objects) { pool[:heap_eden_slots] }]
          end
        end

        # Extends the heap by a number of slots.
        def extend(slots, slot_bytes)
          Native.extend_heap(slots, slot_bytes)
        end
      end
    end
  end
end
