# frozen_string_literal: true

require "carat/processes/heap/full_marks"
require "test_helper"

module Carat
  # What FullMarks does with Ruby's own collector.
  class RubyMarksTest < Minitest::Test
    include Support::Forked

    # Ruby's collector, in a heap that is large enough, and in which a full collection is always due.
    class DueMarks < Processes::RubyMarks
      def need = :nofree
      def size = super.tap { |size| size.use = Processes::FullMarks::LEAST_SLOTS }
    end

    def setup
      skip "Ruby #{RUBY_VERSION} has no switch for full collections: 3.4 has" if RUBY_VERSION < "3.4"
    end

    def test_full_collections_of_the_application_run_while_carat_forbids_rubys_and_end_the_need
      assert_equal [false, true, false, true], forked { during_need { GC.start } }
      assert_equal [false, true, false, true], forked { during_need { GC.compact } }
    end

    def test_a_later_ban_of_the_application_stays
      found = forked do
        marks = Processes::FullMarks.new(ruby: DueMarks.new)
        marks.watch
        GC.config(rgengc_allow_full_mark: false)
        GC.start
        GC.start(full_mark: false)
        marks.review
        [marks.manages?, marks.due?, allowed?]
      end
      assert_equal [false, false, false], found
    end

    def test_a_full_collection_that_ruby_runs_in_steps_is_not_ended_between_two_requests
      state, = forked do
        marks = Processes::FullMarks.new(ruby: DueMarks.new)
        kept = Array.new(200_000) { |n| "object number #{n}" }
        GC.start # free slots in each pool, and no marking under way
        marks.watch
        GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
        marks.review
        [GC.latest_gc_info(:state), kept.size]
      end
      assert_equal :marking, state
    end

    def test_ruby_tells_whether_code_has_asked_for_a_collection
      found = forked do
        marks = Processes::RubyMarks.new
        GC.start
        asked = marks.asked?
        count = GC.count
        Object.new while GC.count == count
        [asked, marks.asked?]
      end
      assert_equal [true, false], found
    end

    def test_ruby_tells_the_bytes_of_slots
      bytes, = forked do
        before = Processes::RubyMarks.new.size.bytes
        kept = Array.new(10_000) { "x" * 600 }
        [Processes::RubyMarks.new.size.bytes - before, kept.size]
      end
      assert_operator bytes, :>, 5_000_000
    end

    private

    # Runs the block while a full collection is due. Returns whether Ruby could begin one by itself, whether one has
    # run, whether one is still due, and whether Ruby may begin the next one.
    def during_need
      GC.start # one may be due already
      marks = Processes::FullMarks.new(ruby: DueMarks.new)
      marks.watch
      GC.start(full_mark: false)
      marks.review
      before = GC.stat(:major_gc_count)
      allowed = allowed?
      yield
      [allowed, GC.stat(:major_gc_count) > before, marks.due?, allowed?]
    end

    def allowed? = GC.config.fetch(:rgengc_allow_full_mark)
  end
end
