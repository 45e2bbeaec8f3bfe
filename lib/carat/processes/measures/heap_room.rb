# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Processes
    # The room for garbage in the heap of a worker. The room begins small, since each page that garbage fills becomes
    # private memory of the worker. It grows where collections are expensive because they mark much: the heap is large,
    # or objects outlive several requests. The cost of sweeping is no reason to grow, because it is the same in any
    # room. See docs/decisions/0016-room-for-garbage.md.
    class HeapRoom
      # The share of CPU time that marking may take, from 0 to 1.
      MARKING_SHARE = 0.1
      # The milliseconds that a collection marks for, on average, before `MARKING_SHARE` counts: shorter collections
      # delay no request.
      MARKING_MILLISECONDS = 0.4
      # The share of CPU time that whole collections for lack of slots may take, from 0 to 1.
      SHARE = 0.3
      # How many collections for lack of slots, and how many milliseconds of CPU time, there are at least between two
      # decisions: in less time, the first ones after the fork would decide.
      COLLECTIONS = 8
      MILLISECONDS = 400
      # The least that a step adds where marking takes too long: 60 000 of Ruby's smallest slots.
      STEP_BYTES = 2_400_000
      # What a step adds where collections as a whole take too long: 20 000 slots, as many as Ruby itself adds.
      SMALL_STEP_BYTES = 800_000
      # The most that one step adds, as a multiple of the present room.
      MOST_TIMES = 2
      # The least that a pool of slots gets in a step: about one page. Less is not worth it, because adding a page
      # writes to all free slots of the pool.
      PART_BYTES = 65_536
      # The most that all steps together add, in bytes. If `LIMIT_SHARE` allows more, it counts instead.
      LIMIT_BYTES = 10 * STEP_BYTES
      # The most that all steps together add, as a share of the heap.
      LIMIT_SHARE = 0.3
      # The share of `worker_memory` that all steps may take, so that the room does not get the worker replaced.
      MEMORY_SHARE = 0.25
      private_constant :MARKING_SHARE, :MARKING_MILLISECONDS, :SHARE, :COLLECTIONS, :MILLISECONDS, :STEP_BYTES,
                       :SMALL_STEP_BYTES, :MOST_TIMES, :PART_BYTES, :LIMIT_BYTES, :LIMIT_SHARE, :MEMORY_SHARE

      @steps = 0
      @bytes = 0
      @objects = 0

      class << self
        # How many times the heap was extended, in this process and in the processes from which it was forked, and by
        # how many bytes in all.
        attr_accessor :steps, :bytes

        # How many objects the extensions have allocated. The application has not asked for them.
        attr_accessor :objects
      end

      # `collector` has the methods of Collections. `memory` is `worker_memory` in bytes, or nil without a limit.
      def initialize(collector = Collections.new, memory: nil)
        @collector = collector
        @memory = memory
        @turn = Mutex.new
        begin_anew
      end

      # Decides whether to extend the heap. To be called between two requests when the garbage collector has run; any
      # thread may call it.
      def review
        return unless @turn.try_lock

        begin
          look
        ensure
          @turn.unlock
        end
      end

      # Leaves a full collection out that has just run between requests.
      def pass
        @turn.synchronize { note }
      end

      private

      # Adds the collections since the last call, and extends the heap after enough of them. They count only if the last
      # one ran for lack of slots: Ruby does not tell why the others ran.
      def look
        collections, took, marked = note_collections
        return unless collections.positive? && @collector.short_of_slots?

        @collections += collections
        @taken += took
        @marked += marked
        return if @collections < COLLECTIONS || cpu < MILLISECONDS

        extend_heap
        begin_anew
      end

      # Returns three figures since the last call: how many collections have run, how long they took, and how long they
      # marked, in milliseconds of CPU time.
      def note_collections
        before = [@count, @milliseconds, @marking]
        note
        [@count, @milliseconds, @marking].zip(before).map { |now, was| now - was }
      end

      # Starts all sums from zero, after an extension, so that the cost of the extension does not count.
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

      # The CPU time since the last decision, in milliseconds.
      def cpu = @collector.cpu_milliseconds - @cpu

      # Extends each pool of slots by its part: Ruby collects as soon as one of the pools is full.
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

      # How many bytes to add to `room`, the bytes that are allocated between two collections. The cost of marking falls
      # as the room grows.
      def wanted(room)
        if @marked > @collections * MARKING_MILLISECONDS && @marked > cpu * MARKING_SHARE
          times = (@marked / (cpu * MARKING_SHARE)) - 1
          [room * [times, MOST_TIMES].min, STEP_BYTES].max
        else
          @taken > cpu * SHARE ? SMALL_STEP_BYTES : 0
        end
      end

      def limit
        most = [LIMIT_BYTES, @collector.heap_bytes * LIMIT_SHARE].max
        @memory ? [most, @memory * MEMORY_SHARE].min : most
      end

      # The objects that were allocated in each pool since the last decision; all objects so far where Ruby does not
      # tell.
      def recent_demand
        demand = @collector.demand
        recent = demand.to_h { |slot_bytes, objects| [slot_bytes, [objects - @demand.fetch(slot_bytes, 0), 0].max] }
        recent.values.any?(&:positive?) ? recent : demand
      end

      # Ruby's figures about its garbage collector.
      class Collections
        # The size of a slot in Ruby 3.1, whose slots all have one size.
        SLOT_BYTES = GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40)
        PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
        TELLS_MARKING = GC.stat.key?(:marking_time)
        private_constant :SLOT_BYTES, :PAGE_BYTES, :TELLS_MARKING

        # The number of collections.
        def count
          GC.count
        end

        # The CPU time of all collections.
        def milliseconds
          GC.stat(:time)
        end

        # The CPU time that all collections marked; 0 before Ruby 3.3, which does not tell it.
        def marking_milliseconds
          TELLS_MARKING ? GC.stat(:marking_time) : 0
        end

        # The bytes of all slots.
        def heap_bytes
          GC.stat(:heap_eden_pages) * PAGE_BYTES
        end

        # The CPU time of the process.
        def cpu_milliseconds
          Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)
        end

        # Whether the last collection ran because no slot was free. Other collections run because the application asks
        # for them, or has allocated memory outside of the heap.
        def short_of_slots?
          GC.latest_gc_info(:gc_by) == :newobj
        end

        # Returns how many objects were allocated in each pool, by the size of its slots in bytes. Ruby 3.2 does not
        # tell that: there, the number of the pool's slots takes its place.
        def demand
          return { SLOT_BYTES => GC.stat(:total_allocated_objects) } unless GC.respond_to?(:stat_heap)

          GC.stat_heap.each_value.to_h do |pool|
            [pool[:slot_size], pool.fetch(:total_allocated_objects) { pool[:heap_eden_slots] }]
          end
        end

        # Extends the heap by a number of slots of one size.
        def extend(slots, slot_bytes)
          before = GC.stat(:total_allocated_objects)
          Native.extend_heap(slots, slot_bytes)
          HeapRoom.objects += GC.stat(:total_allocated_objects) - before
        end
      end
    end
  end
end
