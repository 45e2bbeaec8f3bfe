# frozen_string_literal: true

require "carat/processes/heap_room"
require "test_helper"

module Carat
  class HeapRoomTest < Minitest::Test
    # A collector whose figures the test chooses.
    class Collector
      attr_accessor :milliseconds, :cpu_milliseconds
      attr_writer :short_of_slots
      attr_reader :extensions

      def initialize
        @milliseconds = @cpu_milliseconds = 0
        @short_of_slots = true
        @extensions = []
      end

      def short_of_slots?
        @short_of_slots
      end

      # Three quarters of the bytes are in slots of 40.
      def demand
        { 40 => 12, 160 => 1, 640 => 0 }
      end

      def extend(*extension)
        @extensions << extension
      end
    end

    def setup
      @collector = Collector.new
      @room = Processes::HeapRoom.new(@collector)
    end

    def test_collections_that_take_more_than_three_tenths_of_the_time_extend_each_pool_by_its_part
      7.times { collect(took: 31, cpu: 100) }
      assert_empty @collector.extensions, "fewer say little about how often they come"
      collect(took: 31, cpu: 100)
      assert_equal [[45_000, 40], [3750, 160], [0, 640]], @collector.extensions
      assert_equal 1, @room.steps
    end

    def test_what_is_less_than_that_does_not
      80.times { collect(took: 30, cpu: 100) }
      assert_equal [0, []], [@room.steps, @collector.extensions]
    end

    def test_old_times_do_not_count
      8.times { collect(took: 30, cpu: 1000) }
      8.times { collect(took: 31, cpu: 100) }
      assert_equal 1, @room.steps
    end

    def test_collections_that_the_application_asks_for_do_not_count
      7.times { collect(took: 31, cpu: 100) }
      @collector.short_of_slots = false
      20.times { collect(took: 50, cpu: 51) }
      @collector.short_of_slots = true
      collect(took: 31, cpu: 100)
      assert_equal 0, @room.steps
    end

    def test_the_heap_is_extended_ten_times_at_most
      160.times { collect(took: 31, cpu: 32) }
      assert_equal 10, @room.steps
    end

    private

    # A collection that took so many milliseconds, so many of the process after the one before.
    def collect(took:, cpu:)
      @collector.milliseconds += took
      @collector.cpu_milliseconds += cpu
      @room.review
    end
  end

  # The figures of a Ruby that really collects.
  class CollectionsTest < Minitest::Test
    def setup
      @collections = Processes::HeapRoom::Collections.new
    end

    def test_a_collection_for_want_of_slots_is_told_from_one_that_was_asked_for
      GC.start
      refute_predicate @collections, :short_of_slots?
      count = GC.count
      kept = []
      kept << +"" until GC.count > count
      assert_predicate @collections, :short_of_slots?
    end

    def test_collections_take_a_part_of_the_process_s_time
      before = [@collections.milliseconds, @collections.cpu_milliseconds]
      20.times { GC.start }
      after = [@collections.milliseconds, @collections.cpu_milliseconds]
      took, cpu = after.zip(before).map { |now, was| now - was }
      assert_operator took, :>, 0
      assert_operator took, :<=, cpu + 1
    end

    def test_the_pool_that_objects_are_made_in_is_asked_for_more
      before = @collections.demand
      kept = Array.new(100_000) { +"" }
      most, = @collections.demand.max_by { |slot_bytes, objects| objects - before[slot_bytes] }
      assert_equal GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40), most
      assert_equal 100_000, kept.size
    end
  end
end
