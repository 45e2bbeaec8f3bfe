# frozen_string_literal: true

require "carat/processes/heap/full_marks"
require "test_helper"

module Carat
  class FullMarksTest < Minitest::Test
    # A collector whose figures the test chooses, and which notes what it is told.
    class Collector
      attr_accessor :collections, :full_collections, :nanoseconds, :need, :size, :told, :spare, :old_objects
      attr_writer :asked, :disabled, :forbidden

      def initialize
        @collections = @full_collections = @nanoseconds = 0
        @spare = @old_objects = 0
        @size = size_of(slots: 250_000)
        @told = []
      end

      # By default, slots have 40 bytes.
      def size_of(slots:, use: 200_000, bytes: slots * 40, malloc: 0)
        Processes::RubyMarks::Size.new(slots: slots, use: use, bytes: bytes, malloc: malloc)
      end

      def note_load = nil
      def marking? = false
      def disabled? = @disabled
      def allowed? = !@forbidden
      def watch(_observer) = true
      def watch_closely(is_wanted) = @closely = is_wanted
      def closely? = @closely
      def allow = @told << :allow
      def forbid = @told << :forbid
      def asked? = @asked
      def report_due(reason) = @told << (reason ? [:due, reason] : :not_due)
      def report_done(micros, haste) = @told << [micros, haste]

      def collect
        @collections += 1
        @full_collections += 1
        50_000
      end
    end

    # A HeapRoom that notes what it is told.
    class Room
      attr_reader :passes, :reviews
      attr_writer :eaten

      def eaten? = @eaten
      def pass = @passes = (@passes || 0) + 1
      def postpone = @passes = :postponed
      def review = @reviews = (@reviews || 0) + 1
    end

    def setup
      @ruby = Collector.new
      @room = Room.new
      @marks = Processes::FullMarks.new(ruby: @ruby, room: @room)
      @marks.watch
    end

    def test_ruby_may_run_full_collections_while_none_is_due
      collect_minor
      assert_equal [:allow], told
      refute_predicate @marks, :due?
    end

    def test_once_one_is_due_only_minor_ones_run_and_the_edge_is_told
      become_due
      assert_equal [:allow, :forbid, %i[due oldgen]], told
      collect_minor
      assert_empty told
      assert_predicate @marks, :due?
    end

    def test_full_collections_of_a_small_heap_are_left_to_ruby
      @ruby.size = @ruby.size_of(slots: 250_000, use: 199_999)
      become_due
      refute_predicate @marks, :due?
      refute_predicate @ruby, :closely?
      @ruby.size = @ruby.size_of(slots: 250_000, use: 100_000)
      collect_full(5_000_000)
      assert_equal [:not_due, [5000, :small_heap]], told
    end

    def test_a_need_is_seen_between_two_requests_too
      @ruby.need = :oldmalloc
      @ruby.collections += 1
      @marks.review
      assert_equal [:allow, :forbid, %i[due oldmalloc]], told
      assert_equal 1, @room.reviews
    end

    def test_a_room_that_old_garbage_has_eaten_calls_for_a_full_collection
      @room.eaten = true
      @marks.review
      assert_equal [:forbid, %i[due room]], told
      @room.eaten = false
      assert_equal 50_000, @marks.collect
      assert_equal [:not_due, [50_000, nil], :allow], told
    end

    def test_each_marking_is_watched_only_while_a_pool_of_slots_is_tight
      @ruby.spare = 1
      collect_minor
      refute_predicate @ruby, :closely?
      @ruby.spare = 0
      collect_minor
      assert_predicate @ruby, :closely?
    end

    def test_where_slots_are_to_spare_a_sweep_is_left_to_ruby_until_old_objects_fill_half_of_them
      @ruby.spare = 2000
      collect_minor
      told
      @ruby.old_objects = 999
      @ruby.collections += 1
      @marks.review
      assert_empty told
      @ruby.old_objects = 1000
      @ruby.collections += 1
      @marks.review
      assert_equal [:allow], told
    end

    def test_an_ordered_collection_ends_the_need_and_is_known_to_the_edge
      become_due(:oldmalloc)
      told
      assert_equal 50_000, @marks.collect
      assert_equal [:not_due, [50_000, nil], :allow], told
      refute_predicate @marks, :due?
      assert_equal 1, @room.passes
    end

    def test_a_heap_that_was_too_small_grows_once_after_the_collection
      become_due(:nofree)
      @marks.collect
      assert_equal :forbid, told.last
      @marks.marked # the job of the ordered collection itself comes late
      assert_empty told
      collect_minor
      assert_equal [:allow], told
    end

    def test_a_heap_that_has_grown_meanwhile_does_not_grow_again
      become_due(:nofree)
      @ruby.size = @ruby.size_of(slots: 260_000)
      @marks.collect
      assert_equal :allow, told.last
    end

    def test_a_heap_that_has_grown_by_two_steps_and_a_half_is_left_to_ruby
      become_due
      grow(slots: 300_000)
      assert_empty told
      grow(slots: 300_001)
      assert_equal [:allow], told
    end

    def test_large_slots_have_a_bound_in_bytes
      @ruby.size = @ruby.size_of(slots: 2_000_000, bytes: 200_000_000)
      become_due
      # 20 000 slots of 640 bytes, and one byte more.
      [[212_800_000, []], [212_800_001, [:allow]]].each do |bytes, expected|
        told
        @ruby.size = @ruby.size_of(slots: 2_020_000, bytes: bytes)
        collect_minor
        assert_equal expected, told
      end
    end

    def test_memory_from_malloc_has_a_bound_too
      become_due
      grow(malloc: 64 << 20)
      assert_empty told
      grow(malloc: (64 << 20) + 1)
      assert_equal [:allow], told
    end

    def test_a_collection_within_requests_is_reported_with_what_it_has_taken
      become_due
      grow(slots: 400_000)
      told
      collect_full(80_000_000)
      assert_equal [:not_due, [80_000, :bound]], told
    end

    def test_a_collection_whose_rest_the_edge_declines_is_left_to_ruby
      become_due
      told
      @ruby.need = :oldgen
      @marks.decline
      assert_equal %i[not_due allow], told
      refute_predicate @ruby, :closely?
      collect_minor
      assert_empty told
      @ruby.need = nil
      collect_full(80_000_000)
      assert_equal [:not_due, [80_000, :busy]], told
    end

    def test_where_only_the_room_wants_a_collection_or_ruby_no_longer_does_none_follows_a_declined_rest
      @room.eaten = true
      @marks.review
      told
      @marks.decline
      assert_equal [%i[not_due allow], :postponed], [told, @room.passes]
      become_due
      2.times { @marks.decline }
      assert_equal [:allow, :forbid, %i[due oldgen], :not_due, :allow], told
    end

    def test_a_collection_that_runs_as_soon_as_it_is_due_is_sudden
      collect_full(5_000_000)
      assert_equal [:not_due, [5000, :sudden]], told
    end

    def test_a_collection_of_the_application_while_others_are_forbidden_is_its_own
      become_due
      told
      collect_full(5_000_000)
      assert_equal [:not_due, [5000, :application], :allow], told
    end

    def test_an_application_that_forbids_full_collections_later_times_them_from_then_on
      @ruby.forbidden = true
      become_due
      assert_equal [[], false, 0], [told, @marks.manages?, @marks.collect]
      refute_predicate @ruby, :closely?
      collect_full(5_000_000)
      assert_equal [:not_due, [5000, :unmanaged]], told
    end

    def test_its_own_full_collection_does_not_allow_those_that_it_has_forbidden
      @ruby.forbidden = @ruby.asked = true
      collect_full(5_000_000)
      assert_equal [:not_due, [5000, :application]], told
      refute_predicate @marks, :manages?
    end

    def test_full_collections_that_stay_rubys_are_counted
      marks = Processes::FullMarks.new(ruby: @ruby, manages: false)
      marks.watch
      refute_predicate @ruby, :closely?
      collect_minor(marks)
      collect_full(5_000_000, marks)
      marks.leave
      assert_equal [:not_due, [5000, :unmanaged]], told
      assert_equal 0, marks.collect
    end

    def test_a_collector_that_the_application_has_disabled_is_left_alone
      become_due
      @ruby.disabled = true
      assert_equal 0, @marks.collect
      @ruby.disabled = false # The edge does not ask again: the bound ends the need.
      grow(slots: 300_001)
      assert_equal [:allow], told
    end

    def test_a_worker_that_becomes_the_mold_gives_full_collections_back
      become_due
      told
      @marks.leave
      assert_equal %i[not_due allow], told
      collect_minor
      assert_empty told
    end

    private

    # What the collector was told since the last call.
    def told = @ruby.told.tap { @ruby.told = [] }

    def collect_minor(marks = @marks)
      @ruby.collections += 1
      marks.marked
    end

    def collect_full(nanoseconds, marks = @marks)
      @ruby.full_collections += 1
      @ruby.nanoseconds += nanoseconds
      collect_minor(marks)
    end

    def become_due(need = :oldgen)
      @ruby.need = need
      collect_minor
      @ruby.need = nil
    end

    def grow(slots: 250_000, malloc: 0)
      told
      @ruby.size = @ruby.size_of(slots: slots, malloc: malloc)
      collect_minor
    end
  end
end
