# frozen_string_literal: true

require "test_helper"

module Native
  # What lanes tell the edge of full collections, and how Ruby code learns of them. Each fact is about the process.
  class FullMarksTest < Support::NativeTest
    include Support::Forked

    # Bytes of the reasons of a collection (crates/carat-wire/src/collection_reasons.rs).
    OTHER = 0
    OLDGEN = 2
    BOUND = 5

    def test_a_request_that_waited_for_a_collection_says_so_before_its_response
      kinds, payload = forked { frames_of { Carat::Native.full_mark_done(80_000, :oldgen, :bound) } }
      assert_equal %i[collection response], kinds
      assert_equal [1, 80_000, 1, OLDGEN, BOUND], payload.unpack("L<L<S<CC")
    end

    def test_the_collection_that_the_edge_has_ordered_is_not_counted_again
      _, payload = forked { frames_of { Carat::Native.full_mark_done(80_000, :oldgen, nil) } }
      assert_equal [1, 80_000, 0], payload.unpack("L<L<S<")
    end

    def test_a_request_after_the_collection_has_not_waited
      kinds = forked do
        Carat::Native.full_mark_done(80_000, :oldgen, :bound)
        frames_of { nil }.first
      end
      assert_equal %i[response], kinds
    end

    def test_the_edge_is_told_once_that_a_collection_is_due_why_and_how_busy_the_worker_is
      frames = forked do
        lane = serve(->(_env) { [200, {}, []].tap { Carat::Native.full_mark_due(:oldgen, 40) } })
        Array.new(3) do
          lane.request
          Array.new(2) { lane.frame }
        end
      end
      assert_equal [%i[response collection_due]] * 3, (frames.map { |both| both.map(&:first) })
      assert_equal [[OLDGEN, 40]] * 3, (frames.map { |both| both.last.last.bytes })
    end

    def test_a_need_is_told_again_after_the_late_report_of_an_earlier_collection
      kinds = forked do
        begun = Queue.new
        ended = Queue.new
        slow = serve(lambda do |_env|
          Carat::Native.full_mark_done(80_000, :oldgen, :bound)
          begun << true
          ended.pop
          [200, {}, []]
        end)
        quick = serve(->(_env) { [200, {}, []].tap { Carat::Native.full_mark_due(:oldgen, 40) } })
        slow.request
        begun.pop
        quick.request
        2.times { quick.frame }
        ended << true
        kinds = Array.new(2) { slow.frame.first }
        kinds << (slow.frame.first unless slow.silent?(5))
      end
      assert_equal %i[collection response collection_due], kinds
    end

    def test_a_reason_that_is_new_in_ruby_is_other_and_a_need_that_ends_is_not_reported
      frames = forked do
        frames_of do
          Carat::Native.full_mark_due(:oldgen, 40)
          Carat::Native.full_mark_due(nil, 0)
          Carat::Native.full_mark_done(1, :unheard_of, :bound)
        end
      end
      assert_equal [%i[collection response], [OTHER, BOUND]], [frames.first, frames.last.unpack("@10CC")]
    end

    def test_ruby_code_is_called_soon_after_ruby_has_marked_fully
      skip "Ruby #{RUBY_VERSION} cannot call it: 3.4 can" if RUBY_VERSION < "3.4"

      calls = forked do
        seen = []
        watch { seen << GC.latest_gc_info(:major_by) }
        GC.start(full_mark: false)
        seen.clear # Ruby code is called, too, when this makes a full one due.
        GC.start
        seen
      end
      assert_equal 1, calls.size
      refute_nil calls.first
    end

    def test_each_marking_is_told_to_those_who_watch_closely
      skip "Ruby #{RUBY_VERSION} cannot call it: 3.4 can" if RUBY_VERSION < "3.4"

      calls = forked do
        seen = []
        watch { seen << GC.count }
        Carat::Native.watch_marking_closely(true)
        2.times { GC.start(full_mark: false) }
        Carat::Native.watch_marking(nil)
        GC.start
        seen.size
      end
      assert_equal 2, calls
    end

    def test_ruby_code_is_not_called_while_each_allocation_collects
      skip "Ruby #{RUBY_VERSION} cannot call it: 3.4 can" if RUBY_VERSION < "3.4"

      calls = forked do
        seen = 0
        # Whatever the observer makes would call it again, and so on without an end.
        watch { GC.stress = false if (seen += 1) == 100 }
        Carat::Native.watch_marking_closely(true)
        GC.stress = true
        Object.new
        GC.stress = false
        seen
      end
      assert_operator calls, :<=, 1, "what the last allocation asks for comes when the stress is over"
    end

    private

    def watch(&marked)
      Carat::Native.watch_marking(Object.new.tap { |observer| observer.define_singleton_method(:marked, &marked) })
    end

    # The kinds of the frames that answer a request in which the block runs, and the payload of the first.
    def frames_of
      lane = serve(lambda { |_env|
        yield
        [200, {}, []]
      })
      lane.request
      frames = [lane.frame]
      frames << lane.frame until frames.last.first == :response
      [frames.map(&:first), frames.first.last]
    end
  end
end
