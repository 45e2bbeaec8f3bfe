# frozen_string_literal: true

require_relative "../../native"
require_relative "collector_clock"
require_relative "full_marks"
require_relative "heap_room"

module Carat
  module Processes
    # The heap of a worker: its room for garbage, its full collections, and what collections have cost.
    class WorkerHeap
      # Create it right after the fork.
      def initialize
        @clock = CollectorClock.new
      end

      # Begins to manage the heap as the configuration says. Call it when the hooks of the boot have run.
      def manage(configuration)
        @room = HeapRoom.new(memory: configuration[:worker_memory]) if configuration.frugal?
        @marks = FullMarks.begin(configuration, @room)
      end

      # Lets the lane, a Native::Lane, say when the garbage collector has run.
      def watch(lane)
        observer = @marks || @room
        lane.watch_collections(observer) if observer
      end

      # Yields, runs a full collection, and returns how long it took in microseconds; 0, without either, where full
      # collections stay Ruby's.
      def collect
        return 0 unless @marks&.manages?

        yield
        @marks.collect
      end

      # The worker rests. Once one collection has run since the fork, another minor one dirties no further shared page.
      def return_memory
        GC.start(full_mark: false, immediate_sweep: true) if @clock.stats[:gc_count].positive?
        Native.trim_memory
      end

      # Returns what CollectorClock#stats does, and how many times the heap was extended; nil where the user sizes it.
      def stats
        { **@clock.stats, heap_extensions: (HeapRoom.steps if @room) }
      end

      # Leaves the heap to Ruby, as in a mold.
      def leave
        @marks&.leave
      end
    end
  end
end
