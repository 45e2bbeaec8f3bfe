# frozen_string_literal: true

require_relative "collection_costs"
require_relative "collections"
require_relative "request_room"

module Carat
  module Processes
    # The room for garbage in the heap of a worker. The room begins small, since each page that garbage fills becomes
    # private memory of the worker. It grows where collections are expensive because they mark much: the heap is large,
    # or objects outlive several requests. The cost of sweeping is no reason to grow, because it is the same in any
    # room; but where a collection delays a request noticeably, few requests should meet one (RequestRoom). See
    # docs/decisions/0016-room-for-garbage.md.
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
      # For how many times its CPU time no full collection follows one, because of the room: a twentieth, at most.
      PAUSE_TIMES = 20
      # For how many milliseconds of CPU time the room asks for no full collection after the edge has declined one.
      DECLINED_MILLISECONDS = 10_000
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
                       :SMALL_STEP_BYTES, :MOST_TIMES, :PAUSE_TIMES, :DECLINED_MILLISECONDS, :PART_BYTES,
                       :LIMIT_BYTES, :LIMIT_SHARE, :MEMORY_SHARE

      @steps = 0
      @bytes = 0
      @objects = 0

      class << self
        # How many times the heap was extended, in this process and in the processes from which it was forked, and by
        # how many bytes in all that are still there.
        attr_accessor :steps, :bytes

        # How many objects the extensions have allocated. The application has not asked for them.
        attr_accessor :objects
      end

      # `collector` has the methods of Collections. `memory` is `worker_memory` in bytes, or nil without a limit. The
      # block returns how many requests this process has served; without it, RequestRoom does not count.
      def initialize(collector = Collections.new, memory: nil, &served)
        @collector = collector
        @memory = memory
        @costs = CollectionCosts.new(collector, served || -> { 0 })
        @turn = Mutex.new
        @pause_until = 0
        note_old
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

      # Whether garbage that only a full collection frees has taken the room of the requests.
      def eaten?
        @is_eaten
      end

      # Leaves a full collection out that has just run between requests.
      def pass
        @turn.synchronize do
          @pause_until = @collector.cpu_milliseconds + (@costs.skip * PAUSE_TIMES)
          note_old
        end
      end

      # Asks for no full collection for a while, because the edge has declined one. The garbage is still there: the room
      # does not grow over it.
      def postpone
        @turn.synchronize do
          @pause_until = @collector.cpu_milliseconds + DECLINED_MILLISECONDS
          @is_eaten = false
        end
      end

      # Drops the extensions, so that the mold which this process becomes can free their pages: its workers would fill
      # them in private memory.
      def leave
        @collector.drop_extensions
        HeapRoom.bytes = 0
      end

      private

      # Adds the collections since the last call, and decides after enough of them.
      def look
        return if @collector.marking?

        added = @costs.add
        note_old if @full != @collector.full_collections
        return unless added && @costs.collections >= COLLECTIONS && @costs.cpu >= MILLISECONDS

        decide
        @costs.begin_anew
      end

      # Begins anew with the garbage that only a full collection frees, after such a collection.
      def note_old
        @full = @collector.full_collections
        @old = @collector.old_objects
        @is_eaten = false
      end

      def decide
        demand = @costs.demand
        requests = RequestRoom.new(@costs)
        lack = requests.needed? ? requests.lack(*@collector.free) : {}
        if lack.any? && requests.eaten?(@collector.old_objects - @old)
          @is_eaten = @collector.cpu_milliseconds > @pause_until
          lack = {}
        end
        room = demand.sum { |slot_bytes, objects| slot_bytes * objects } / @costs.collections
        extend_heap(lack, [lack.values.sum, room * MOST_TIMES].min) || extend_heap(weights(demand), wanted(room))
      end

      # The bytes that were allocated in each pool.
      def weights(demand) = demand.to_h { |slot_bytes, objects| [slot_bytes, slot_bytes * objects] }

      # Extends pools of slots by so many bytes in all, each in proportion to its weight: Ruby collects as soon as one
      # of the pools is full. Returns false, and does nothing, when that is less than a part.
      def extend_heap(weights, bytes)
        step = [bytes, limit - HeapRoom.bytes].min.to_i
        return false if step < PART_BYTES

        HeapRoom.steps += 1
        HeapRoom.bytes += step
        total = weights.values.sum
        weights.each do |slot_bytes, weight|
          part = step * weight / total
          HeapRoom.objects += @collector.extend(part, slot_bytes) if part >= PART_BYTES
        end
      end

      # How many bytes to add to `room`, the bytes that are allocated between two collections. The cost of marking falls
      # as the room grows.
      def wanted(room)
        marked = @costs.marked
        most = @costs.cpu * MARKING_SHARE
        if marked > @costs.collections * MARKING_MILLISECONDS && marked > most
          [room * [(marked / most) - 1, MOST_TIMES].min, STEP_BYTES].max
        else
          @costs.taken > @costs.cpu * SHARE ? SMALL_STEP_BYTES : 0
        end
      end

      def limit
        most = [LIMIT_BYTES, @collector.heap_bytes * LIMIT_SHARE].max
        @memory ? [most, @memory * MEMORY_SHARE].min : most
      end
    end
  end
end
