# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Processes
    # The room for garbage in the heap of a worker. It begins small, since each page that garbage fills is the worker's
    # own. Where objects outlive several requests, collections in a small heap free little and come often; the heap
    # then gets more room, step by step. See docs/decisions/0016-room-for-garbage.md.
    class HeapRoom
      # The share of CPU time that collections for lack of slots may take, from 0 to 1.
      SHARE = 0.3
      # How many such collections one decision covers.
      COLLECTIONS = 8
      # The memory that a step adds: 60 000 of Ruby's smallest slots.
      STEP_BYTES = 2_400_000
      # The least that a pool gets: about one page of slots. Adding a page writes to all free slots of the pool.
      PART_BYTES = 65_536
      # The heap grows by at most this many steps.
      MAX_STEPS = 10
      private_constant :SHARE, :COLLECTIONS, :STEP_BYTES, :PART_BYTES, :MAX_STEPS

      @steps = 0
      @objects = 0

      class << self
        # How many times the heap was extended, in this process and in those that it was forked from.
        attr_accessor :steps

        # How many objects extensions have made, which the application has not asked for.
        attr_accessor :objects
      end

      # `collector` answers what Collections does.
      def initialize(collector = Collections.new)
        @collector = collector
        @turn = Mutex.new
        begin_anew
      end

      # Call it when the garbage collector has run, between two requests. Any thread may.
      def review
        return unless @turn.try_lock

        begin
          look
        ensure
          @turn.unlock
        end
      end

      private

      # Ruby says why the last collection has run, and nothing about those before.
      def look
        collections, took = note_collections
        return unless collections.positive? && @collector.short_of_slots?

        @collections += collections
        @taken += took
        return if @collections < COLLECTIONS

        extend_heap if @taken > (@collector.cpu_milliseconds - @cpu) * SHARE && HeapRoom.steps < MAX_STEPS
        begin_anew
      end

      # Returns how many collections have run since the last call, and their CPU time in milliseconds.
      def note_collections
        before = [@count, @milliseconds]
        @count = @collector.count
        @milliseconds = @collector.milliseconds
        [@count - before[0], @milliseconds - before[1]]
      end

      # The cost of an extension itself does not count.
      def begin_anew
        @count = @collector.count
        @milliseconds = @collector.milliseconds
        @collections = @taken = 0
        @cpu = @collector.cpu_milliseconds
        @demand = @collector.demand
      end

      # Extends each pool of slots by its part: the first one that is full makes Ruby collect.
      def extend_heap
        HeapRoom.steps += 1
        demand = recent_demand
        total = demand.sum { |slot_bytes, objects| slot_bytes * objects }
        demand.each do |slot_bytes, objects|
          bytes = STEP_BYTES * slot_bytes * objects / total
          @collector.extend(bytes / slot_bytes, slot_bytes) if bytes >= PART_BYTES
        end
      end

      # The objects that each pool has been asked for lately; all of them where Ruby does not tell.
      def recent_demand
        demand = @collector.demand
        recent = demand.to_h { |slot_bytes, objects| [slot_bytes, [objects - @demand.fetch(slot_bytes, 0), 0].max] }
        recent.values.any?(&:positive?) ? recent : demand
      end

      # Ruby's figures about its garbage collector.
      class Collections
        # Ruby 3.1 has slots of one size.
        SLOT_BYTES = GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40)
        private_constant :SLOT_BYTES

        # Number of collections.
        def count
          GC.count
        end

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
          return { SLOT_BYTES => GC.stat(:total_allocated_objects) } unless GC.respond_to?(:stat_heap)

          GC.stat_heap.each_value.to_h do |pool|
            [pool[:slot_size], pool.fetch(:total_allocated_objects) { pool[:heap_eden_slots] }]
          end
        end

        # Extends the heap by a number of slots.
        def extend(slots, slot_bytes)
          before = GC.stat(:total_allocated_objects)
          Native.extend_heap(slots, slot_bytes)
          HeapRoom.objects += GC.stat(:total_allocated_objects) - before
        end
      end
    end
  end
end
