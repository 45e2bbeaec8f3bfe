# frozen_string_literal: true

require "carat/processes/heap/collections"
require "test_helper"

module Carat
  # The figures of a Ruby that really collects.
  class CollectionsTest < Minitest::Test
    include Support::Forked

    def setup
      @collections = Processes::Collections.new
    end

    def test_collections_for_lack_of_slots_are_told_from_those_asked_for
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

    def test_what_is_allocated_is_not_free
      skip "needs Ruby 3.4" unless GC.respond_to?(:config)
      Array.new(20_000) { +"" }
      GC.start
      before = bytes_used
      kept = Array.new(1000) { +"" }
      assert_includes (kept.size * 40)..(kept.size * 200), bytes_used - before
    end

    def test_each_object_is_asked_for_in_the_pool_of_its_size
      skip "Ruby 3.2 does not tell" if RUBY_VERSION.start_with?("3.2")
      slot_bytes = GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40)
      before = @collections.demand.fetch(slot_bytes)
      kept = Array.new(100_000) { +"" }
      assert_operator @collections.demand.fetch(slot_bytes) - before, :>=, kept.size
    end

    def test_extensions_live_until_they_are_dropped
      extended, dropped = forked do
        before = arrays
        @collections.extend(100 * 65_536, 40)
        extended = arrays
        @collections.drop_extensions
        [extended - before, arrays - before]
      end
      assert_operator extended, :>=, 90
      assert_operator dropped, :<=, 10
    end

    private

    def arrays
      GC.start
      ObjectSpace.each_object(Array).count
    end

    def bytes_used
      free, empty = @collections.free
      pages = GC.stat(:heap_allocated_pages) * GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE)
      pages - empty - free.sum { |slot_bytes, slots| slot_bytes * slots }
    end
  end
end
