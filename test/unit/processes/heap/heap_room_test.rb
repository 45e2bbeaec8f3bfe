# frozen_string_literal: true

require "carat/processes/heap/heap_room"
require "test_helper"

module Carat
  class HeapRoomTest < Minitest::Test
    # A collector whose figures the test chooses.
    class Collector
      attr_accessor :count, :milliseconds, :marking_milliseconds, :cpu_milliseconds, :demand, :heap_bytes,
                    :full_collections, :old_objects, :free
      attr_writer :short_of_slots, :marking
      attr_reader :extensions

      def initialize
        @count = @milliseconds = @marking_milliseconds = @cpu_milliseconds = 0
        @full_collections = @old_objects = 0
        @heap_bytes = 40_000_000
        @short_of_slots = true
        @demand = { 40 => 1_000_000, 160 => 0, 640 => 0 }
        @free = [{ 40 => 0, 160 => 0, 640 => 0 }, 0]
        @extensions = []
      end

      def short_of_slots? = @short_of_slots
      def marking? = @marking

      def extend(*extension)
        @extensions << extension
        0
      end

      def drop_extensions
        @extensions.clear
      end
    end

    def setup
      @before = [Processes::HeapRoom.steps, Processes::HeapRoom.bytes]
      Processes::HeapRoom.steps = Processes::HeapRoom.bytes = 0
      @collector = Collector.new
      @served = 0
      @room = Processes::HeapRoom.new(@collector) { @served }
    end

    def teardown
      Processes::HeapRoom.steps, Processes::HeapRoom.bytes = @before
    end

    def test_collections_above_three_tenths_of_the_time_extend_the_heap
      7.times { collect(took: 31, cpu: 100) }
      assert_equal 0, steps, "fewer say little about how often they come"
      collect(took: 31, cpu: 100)
      assert_equal 1, steps
    end

    def test_the_heap_is_left_alone_while_ruby_marks_in_steps
      @collector.marking = true
      9.times { collect(took: 31, cpu: 100) }
      assert_equal 0, steps
    end

    def test_each_pool_gets_its_part_of_what_was_asked_for_lately
      @collector.demand = { 40 => 1_012_000, 160 => 1000, 640 => 1 }
      8.times { collect(took: 31, cpu: 100) }
      assert_equal [[599_400, 40], [199_800, 160]], @collector.extensions
    end

    def test_where_ruby_does_not_tell_what_was_asked_for_all_counts
      8.times { collect(took: 31, cpu: 100) }
      assert_equal [[800_000, 40]], @collector.extensions
    end

    def test_what_is_less_than_three_tenths_extends_nothing
      80.times { collect(took: 30, cpu: 100) }
      assert_equal [0, []], [steps, @collector.extensions]
    end

    def test_old_times_do_not_count
      8.times { collect(took: 30, cpu: 1000) }
      8.times { collect(took: 31, cpu: 100) }
      assert_equal 1, steps
    end

    def test_collections_that_the_application_asks_for_do_not_count
      7.times { collect(took: 31, cpu: 100) }
      @collector.short_of_slots = false
      20.times { collect(took: 50, cpu: 100) }
      @collector.short_of_slots = true
      collect(took: 31, cpu: 100)
      assert_equal 0, steps
    end

    def test_several_lanes_that_tell_of_a_collection_count_it_once
      4.times do
        collect(took: 31, cpu: 100)
        @room.review
      end
      assert_equal 0, steps
      4.times { collect(took: 31, cpu: 100) }
      assert_equal 1, steps
    end

    def test_a_worker_and_those_before_it_extend_the_heap_by_24_mb_at_most
      160.times { collect(took: 31, cpu: 100) }
      @room = Processes::HeapRoom.new(@collector)
      160.times { collect(took: 31, cpu: 100) }
      assert_equal [30, 24_000_000], [steps, Processes::HeapRoom.bytes]
    end

    def test_a_worker_that_becomes_a_mold_leaves_no_extensions_to_its_workers
      160.times { collect(took: 31, cpu: 100) }
      @room.leave
      assert_equal [0, []], [Processes::HeapRoom.bytes, @collector.extensions]
      @room = Processes::HeapRoom.new(@collector)
      8.times { collect(took: 31, cpu: 100) }
      assert_equal [[800_000, 40]], @collector.extensions
    end

    def test_marking_above_a_tenth_of_the_time_adds_the_room_that_would_bring_it_there
      8.times { collect(marked: 20, cpu: 100, objects: 250_000) }
      assert_equal [[10_000_000, 40]], @collector.extensions
    end

    def test_a_step_at_most_triples_the_room
      8.times { collect(marked: 50, cpu: 100, objects: 250_000) }
      assert_equal [[20_000_000, 40]], @collector.extensions
    end

    def test_a_small_room_grows_by_a_whole_step
      8.times { collect(marked: 20, cpu: 100, objects: 1000) }
      assert_equal [[2_400_000, 40]], @collector.extensions
    end

    def test_markings_that_no_request_notices_extend_nothing
      400.times { collect(marked: 0.1, cpu: 0.4) }
      assert_equal [0, []], [steps, @collector.extensions]
    end

    def test_collections_of_the_first_moments_decide_nothing
      13.times { collect(took: 10, marked: 5, cpu: 10) }
      assert_equal 0, steps
      collect(took: 10, marked: 5, cpu: 10)
      assert_equal 1, steps
    end

    def test_a_full_collection_between_requests_does_not_count
      @collector.marking_milliseconds += 600
      @room.pass
      14.times { collect(marked: 0.5, cpu: 10) }
      assert_equal 0, steps
    end

    def test_a_large_heap_gets_three_tenths_of_its_size_at_most
      @collector.heap_bytes = 200_000_000
      800.times { collect(marked: 50, cpu: 100, objects: 250_000) }
      assert_equal 60_000_000, @collector.extensions.sum(&:first)
    end

    def test_a_worker_that_may_not_grow_far_gets_a_quarter_of_that
      @room = Processes::HeapRoom.new(@collector, memory: 40_000_000)
      800.times { collect(marked: 50, cpu: 100, objects: 250_000) }
      assert_equal 10_000_000, @collector.extensions.sum(&:first)
    end

    def test_where_a_collection_marks_for_much_longer_than_a_request_takes_few_requests_meet_one
      serve(requests: 50)
      assert_equal [[4_000_000, 40]], @collector.extensions, "at most threefold"
      serve(requests: 100)
      assert_equal [5_000_000, 40], @collector.extensions.last
      serve(requests: 105)
      assert_equal 2, steps
    end

    def test_what_is_free_after_a_collection_is_not_added
      @collector.free = [{ 40 => 50_000, 160 => 0, 640 => 0 }, 1_000_000]
      serve(requests: 90)
      assert_equal [[2_000_000, 40]], @collector.extensions
    end

    def test_requests_that_take_half_as_long_as_a_collection_may_meet_it
      serve(requests: 40, cpu: 62.9)
      assert_equal 1, steps
      serve(requests: 40, cpu: 63.1)
      assert_equal 1, steps
    end

    def test_a_full_collection_does_not_call_for_room_for_requests
      @collector.full_collections += 1
      @served += 50
      collect(took: 10, marked: 10, cpu: 100, objects: 50_000)
      serve(requests: 50, cpu: 60, marked: 0.4)
      assert_equal 0, steps
    end

    def test_objects_that_became_old_call_for_a_full_collection_in_place_of_room
      @collector.old_objects = 16_000
      serve(requests: 50)
      assert_predicate @room, :eaten?
      assert_empty @collector.extensions
      @collector.full_collections += 1
      @room.pass
      refute_predicate @room, :eaten?
    end

    def test_a_room_whose_collection_is_declined_asks_again_after_ten_seconds_and_does_not_grow_meanwhile
      @collector.old_objects = 16_000
      serve(requests: 50)
      @room.postpone
      20.times { serve(requests: 50) }
      refute_predicate @room, :eaten?
      assert_empty @collector.extensions
      serve(requests: 50)
      assert_predicate @room, :eaten?
    end

    def test_full_collections_for_the_room_take_a_twentieth_of_the_time_at_most
      @collector.milliseconds += 100
      @collector.full_collections += 1
      @room.pass
      @collector.old_objects = 16_000
      4.times { serve(requests: 50) }
      refute_predicate @room, :eaten?
      serve(requests: 50)
      assert_predicate @room, :eaten?
    end

    def test_expensive_collections_do_not_wait_for_the_full_one
      @collector.old_objects = 16_000
      serve(requests: 50, cpu: 54, marked: 2)
      assert_predicate @room, :eaten?
      assert_equal [[2_400_000, 40]], @collector.extensions
    end

    private

    # Eight collections that mark for so many times 3 ms each. Before each, so many requests make 1000 objects each.
    def serve(requests:, cpu: 60, marked: 1)
      8.times do
        @served += requests
        collect(took: 1, marked: marked, cpu: cpu / 3.0, objects: 1000 * requests)
      end
    end

    def steps
      Processes::HeapRoom.steps
    end

    # A collection that took and marked so many times 3 ms, so many of the process and so many objects after the one
    # before.
    def collect(cpu:, took: 0, marked: 0, objects: 0)
      @collector.count += 1
      @collector.milliseconds += took * 3
      @collector.marking_milliseconds += marked * 3
      @collector.demand = @collector.demand.merge(40 => @collector.demand.fetch(40) + objects)
      @collector.cpu_milliseconds += cpu * 3
      @room.review
    end
  end
end
