# frozen_string_literal: true

require_relative "../../native"
require_relative "collector_clock"
require_relative "full_marks"
require_relative "heap_room"
require_relative "ruby_marks"

module Carat
  module Processes
    # The heap of a worker: its room for garbage, its full collections, and the cost of its collections.
    class WorkerHeap
      # Starts the clock. To be created right after the fork.
      def initialize
        @clock = CollectorClock.new
      end

      # Begins to manage the heap as the configuration says. To be called after the hooks of the boot. The block returns
      # how many requests the worker has served. Before Ruby 3.4, which cannot tell when it has marked, nothing counts
      # full collections.
      def manage(configuration, &served)
        manages = RubyMarks.objection_to(configuration).nil?
        served = nil unless manages
        @room = HeapRoom.new(memory: configuration[:worker_memory], &served) if configuration.frugal?
        marks = FullMarks.new(manages: manages, room: @room)
        @marks = marks if marks.watch
      end

      # Makes the lane, a Native::Lane, tell the heap when the garbage collector has run.
      def watch(lane)
        observer = @marks || @room
        lane.watch_collections(observer) if observer
      end

      # Yields, runs a full collection, and returns how long it took in microseconds. When Ruby alone times full
      # collections, does nothing and returns 0.
      def collect
        return 0 unless @marks&.manages?

        yield
        @marks.collect
      end

      # Leaves the full collection that is due to Ruby.
      def decline_collection
        @marks&.decline
      end

      # Returns memory to the kernel, while the worker gets no requests. The first collection after the fork writes to
      # pages that are shared with the mold; a further minor one makes no more of them private.
      def return_memory
        GC.start(full_mark: false, immediate_sweep: true) if @clock.stats[:gc_count].positive?
        Native.trim_memory
      end

      # Returns CollectorClock#stats, and how many times the heap was extended, or nil when the user's variables size
      # the heap.
      def stats
        { **@clock.stats, heap_extensions: (HeapRoom.steps if @room) }
      end

      # Stops managing the heap, as in a mold, and drops what was added to it.
      def leave
        @marks&.leave
        @room&.leave
      end
    end
  end
end
