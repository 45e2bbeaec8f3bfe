# frozen_string_literal: true

require "test_helper"

module Native
  class HeapExtensionTest < Support::NativeTest
    include Support::Forked

    LEAST = 40
    PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
    # Ruby 4.1 has a pool for objects that are smaller than an Array.
    SLOT_BYTES = GC.respond_to?(:stat_heap) ? GC.stat_heap.each_value.map { |pool| pool[:slot_size] } : [LEAST]

    def test_a_heap_has_as_many_more_pages_without_a_collection
      SLOT_BYTES.grep(LEAST..).each do |slot_bytes|
        collections, pages, slots = forked { extended(20, slot_bytes) }
        assert_equal 0, collections
        assert_includes 20..25, pages
        assert_operator slots, :>, 18 * PAGE_BYTES / slot_bytes
      end
    end

    def test_pages_that_the_heap_has_already_do_not_count
      more = forked do
        GC.start
        extended(100, LEAST)
        GC.start # empties them
        extended(20, LEAST)[1]
      end
      assert_includes 20..25, more
    end

    def test_the_new_pages_stay_in_their_pool_as_long_as_the_objects_that_it_returns
      before, after = forked do
        GC.start # gives back the pages that other tests have left empty
        kept = Carat::Native.extend_heap(100, LEAST)
        before = slots(LEAST)
        GC.start
        kept.clear
        [before, slots(LEAST)]
      end
      assert_operator after, :>=, before * 0.98
    end

    def test_a_collector_that_is_disabled_stays_so
      Carat::Native.extend_heap(1, 40)
      refute GC.disable
      before = pages
      Carat::Native.extend_heap(100, 40)
      assert_operator pages - before, :<, 100
      assert GC.disable
    ensure
      GC.enable
    end

    def test_a_lane_tells_its_observer_that_the_collector_has_run
      GC.disable # GC.start collects all the same
      reviews = []
      lane = harness(->(env) { [200, {}, [env["PATH_INFO"] == "/collect" ? GC.start.to_s : "ok"]] })
      lane.native.watch_collections(observer { reviews << GC.count })
      lane.start
      3.times { assert_equal "ok", lane.call.body }
      assert_empty reviews
      lane.call(path: "/collect")
      2.times { assert_equal "ok", lane.call.body }
      assert_equal [GC.count], reviews
    ensure
      GC.enable
    end

    private

    # How many collections, pages, and slots of this size an extension has brought.
    def extended(count, slot_bytes)
      GC.start # what is left to sweep would give pages back meanwhile
      before = [GC.count, pages, slots(slot_bytes)]
      Carat::Native.extend_heap(count, slot_bytes)
      [GC.count, pages, slots(slot_bytes)].zip(before).map { |after, earlier| after - earlier }
    end

    def pages = GC.stat(:heap_allocated_pages)

    def slots(slot_bytes)
      return GC.stat(:heap_available_slots) unless GC.respond_to?(:stat_heap)

      GC.stat_heap.each_value.find { |pool| pool[:slot_size] == slot_bytes }.fetch(:heap_eden_slots)
    end

    def observer(&review)
      Object.new.tap { |observer| observer.define_singleton_method(:review, &review) }
    end
  end
end
