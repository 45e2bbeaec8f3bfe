# frozen_string_literal: true

require "test_helper"

module Native
  class HeapExtensionTest < Support::NativeTest
    include Support::Forked

    LEAST = 40
    # Ruby 4.1 has a pool for objects that are smaller than an Array.
    SLOT_BYTES = GC.respond_to?(:stat_heap) ? GC.stat_heap.each_value.map { |pool| pool[:slot_size] } : [LEAST]

    def test_a_heap_has_as_many_more_slots_without_a_collection
      SLOT_BYTES.grep(LEAST..).each do |slot_bytes|
        collections, all, of_this_size = forked { extended(5000, slot_bytes) }
        assert_equal 0, collections
        assert_operator all, :>=, 5000
        assert_operator of_this_size, :>, 2500
      end
    end

    def test_a_collector_that_is_disabled_stays_so
      Carat::Native.extend_heap(1, 40)
      refute GC.disable
      before = slots(40)
      Carat::Native.extend_heap(100_000, 40)
      assert_operator slots(40) - before, :<, 100_000
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

    # How many collections, and slots of all sizes and of this one, an extension has brought.
    def extended(count, slot_bytes)
      GC.start # what is left to sweep would give pages back meanwhile
      before = [GC.count, GC.stat(:heap_available_slots), slots(slot_bytes)]
      Carat::Native.extend_heap(count, slot_bytes)
      [GC.count, GC.stat(:heap_available_slots), slots(slot_bytes)].zip(before).map { |after, earlier| after - earlier }
    end

    def slots(slot_bytes)
      return GC.stat(:heap_available_slots) unless GC.respond_to?(:stat_heap)

      GC.stat_heap.each_value.find { |pool| pool[:slot_size] == slot_bytes }.fetch(:heap_eden_slots)
    end

    def observer(&review)
      Object.new.tap { |observer| observer.define_singleton_method(:review, &review) }
    end
  end
end
