# frozen_string_literal: true

module Carat
  module Processes
    # What a process has done since some time, and what its collections for lack of slots have cost. Other collections
    # say nothing about the room.
    class CollectionCosts
      # How many collections there were; how long they took, and how long they marked, in milliseconds of CPU time.
      attr_reader :collections, :taken, :marked

      # `collector` has the methods of Collections. `served` returns how many requests this process has served.
      def initialize(collector, served)
        @collector = collector
        @served = served
        begin_anew
      end

      # Starts all sums from zero.
      def begin_anew
        note
        @collections = @taken = @marked = @minor = @minor_marked = 0
        @cpu = @collector.cpu_milliseconds
        @demand = @collector.demand
        @requests = @served.call
      end

      # Adds the collections since the last call. They count only if the last one ran for lack of slots: Ruby does not
      # tell why the others ran. Returns whether they count.
      def add
        before = [@count, @milliseconds, @marking]
        full = @full
        note
        collections, took, marked = [@count, @milliseconds, @marking].zip(before).map { |now, was| now - was }
        return false unless collections.positive? && @collector.short_of_slots?

        @collections += collections
        @taken += took
        @marked += marked
        add_minor(collections, marked) if @full == full
        true
      end

      # Leaves out the collections since the last call, and returns how long they took, in milliseconds of CPU time.
      def skip
        before = @milliseconds
        note
        @milliseconds - before
      end

      # The CPU time of the process, in milliseconds.
      def cpu = @collector.cpu_milliseconds - @cpu

      # How many milliseconds of CPU time a minor collection has marked for, on average; 0 without any.
      def marked_by_minor = @minor.zero? ? 0 : @minor_marked.fdiv(@minor)

      # How many requests were served.
      def requests = @served.call - @requests

      # How many objects were allocated in each pool, by the bytes of its slots; all objects so far where Ruby does not
      # tell.
      def demand
        demand = @collector.demand
        recent = demand.to_h { |slot_bytes, objects| [slot_bytes, [objects - @demand.fetch(slot_bytes, 0), 0].max] }
        recent.values.any?(&:positive?) ? recent : demand
      end

      private

      def add_minor(collections, marked)
        @minor += collections
        @minor_marked += marked
      end

      def note
        @count = @collector.count
        @milliseconds = @collector.milliseconds
        @marking = @collector.marking_milliseconds
        @full = @collector.full_collections
      end
    end
  end
end
