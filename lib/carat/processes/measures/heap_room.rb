# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Processes
    # The room for garbage in the heap of a worker. It begins small, since each page that garbage fills is the worker's
    # own, and grows where collections are dear: where much is marked each time, because the heap is large or objects
    # outlive several requests. Sweeping is no reason: it takes as long in any room. See
    # docs/decisions/0016-room-for-garbage.md.
    class HeapRoom
      # The share of CPU time that marking may take, from 0 to 1, and from how many milliseconds a collection on: what
      # takes less delays no request.
      MARKING_SHARE = 0.1
      MARKING_MILLISECONDS = 0.4
      # The share of CPU time that whole collections for lack of slots may take, from 0 to 1.
      SHARE = 0.3
      # How many such collections one decision covers.
      COLLECTIONS = 8
      # The least memory that a step adds: 60 000 of Ruby's smallest slots.
      STEP_BYTES = 2_400_000
      # A step adds at most this many times the room that there was.
      MOST_TIMES = 2
      # The least that a pool gets: about one page of slots. Adding a page writes to all free slots of the pool.
      PART_BYTES = 65_536
      # All steps together add at most this much, or this share of the heap where that is more.
      LIMIT_BYTES = 10 * STEP_BYTES
      LIMIT_SHARE = 0.3
      # The share of `worker_memory` that they may take: a worker is not to be replaced for its room.
      MEMORY_SHARE = 0.25
      private_constant :MARKING_SHARE, :MARKING_MILLISECONDS, :SHARE, :COLLECTIONS, :STEP_BYTES, :MOST_TIMES,
                       :PART_BYTES, :LIMIT_BYTES, :LIMIT_SHARE, :MEMORY_SHARE

      @steps = 0
      @bytes = 0
      @objects = 0

      class << self
        # How many times the heap was extended, in this process and in those that it was forked from, and by how many
        # bytes.
        attr_accessor :steps, :bytes

        # How many objects extensions have made, which the application has not asked for.
        attr_accessor :objects
      end

      # `collector` answers what Collections does. `memory` is `worker_memory` in bytes; nil without a limit.
      def initialize(collector = Collections.new, memory: nil)
        @collector = collector
        @memory = memory
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

      # Counts the time of marking in a full collection that ran between requests.
      def charge(milliseconds)
        @turn.synchronize do
          note
          @marked += milliseconds
        end
      end

      private

      # Ruby says why the last collection has run, and nothing about those before.
      def look
        collections, took, marked = note_collections
        return unless collections.positive? && @collector.short_of_slots?

        @collections += collections
        @taken += took
        @marked += marked
        return if @collections < COLLECTIONS

        extend_heap
        begin_anew
      end

      # Returns how many collections have run since the last call, and in milliseconds of CPU time how long they took,
      # and how long they marked.
      def note_collections
        before = [@count, @milliseconds, @marking]
        note
        [@count, @milliseconds, @marking].zip(before).map { |now, was| now - was }
      end

      # The cost of an extension itself does not count.
      def begin_anew
        note
        @collections = @taken = @marked = 0
        @cpu = @collector.cpu_milliseconds
        @demand = @collector.demand
      end

      def note
        @count = @collector.count
        @milliseconds = @collector.milliseconds
        @marking = @collector.marking_milliseconds
      end

      # Extends each pool of slots by its part: the first one that is full makes Ruby collect.
      def extend_heap
        demand = recent_demand
        total = demand.sum { |slot_bytes, objects| slot_bytes * objects }
        step = [wanted(total / @collections), limit - HeapRoom.bytes].min.to_i
        return if step < PART_BYTES

        HeapRoom.steps += 1
        HeapRoom.bytes += step
        demand.each do |slot_bytes, objects|
          bytes = step * slot_bytes * objects / total
          @collector.extend(bytes / slot_bytes, slot_bytes) if bytes >= PART_BYTES
        end
      end

      # How many bytes are to be added to the room, all of which is used between two collections. The cost of marking
      # falls as the room grows.
      def wanted(room)
        cpu = @collector.cpu_milliseconds - @cpu
        if @marked > @collections * MARKING_MILLISECONDS && @marked > cpu * MARKING_SHARE
          times = (@marked / (cpu * MARKING_SHARE)) - 1
          [room * [times, MOST_TIMES].min, STEP_BYTES].max
        else
          @taken > cpu * SHARE ? STEP_BYTES : 0
        end
      end

      def limit
        most = [LIMIT_BYTES, @collector.heap_bytes * LIMIT_SHARE].max
        @memory ? [most, @memory * MEMORY_SHARE].min : most
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
        PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
        TELLS_MARKING = GC.stat.key?(:marking_time)
        private_constant :SLOT_BYTES, :PAGE_BYTES, :TELLS_MARKING

        # Number of collections.
        def count
          GC.count
        end

        # CPU time of all collections.
        def milliseconds
          GC.stat(:time)
        end

        # CPU time that they marked, all in one go; 0 before Ruby 3.3, which does not tell.
        def marking_milliseconds
          TELLS_MARKING ? GC.stat(:marking_time) : 0
        end

        # The size of all slots.
        def heap_bytes
          GC.stat(:heap_eden_pages) * PAGE_BYTES
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
