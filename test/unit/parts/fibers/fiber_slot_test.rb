# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

module Carat
  class FiberSlotTest < Support::FiberLaneTest
    def test_requests_that_do_not_wait_are_served_by_one_slot
      lane = fibers(->(env) { [200, {}, [env["PATH_INFO"]]] })
      50.times { |number| lane.request(path: "/#{number}") }
      assert_equal Array.new(50) { |number| "/#{number}" }, Array.new(50) { lane.response.body }
      assert_equal [1, 50, 0], lane.lane.stats.values_at(:slots, :served, :running)
    end

    def test_no_more_slots_are_opened_than_the_capacity
      lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] }, capacity: 3)
      5.times { lane.request }
      eventually { @gates[:all].num_waiting == 3 }
      assert_equal [3, 3], lane.lane.stats.values_at(:slots, :running)
      5.times { @gates[:all] << "go" }
      assert_equal %w[go] * 5, Array.new(5) { lane.response.body }
    end

    def test_slots_beyond_those_that_are_kept_end_when_they_are_not_needed
      lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] }, capacity: 200)
      200.times { lane.request }
      eventually { @gates[:all].num_waiting == 200 }
      200.times { @gates[:all] << "go" }
      200.times { lane.response }
      eventually { lane.lane.stats[:slots] <= Request::FiberSlot::IDLE_LIMIT + 1 }
      assert_equal 200, lane.lane.stats[:served]
    end

    def test_what_a_request_keeps_in_its_fiber_is_not_there_for_the_next
      seen = lambda do |_env|
        before = [Thread.current[:mine], Fiber.current.instance_variable_get(:@mine), storage[:mine]]
        Thread.current[:mine] = Fiber.current.instance_variable_set(:@mine, 1)
        storage[:mine] = 1
        [200, {}, [before.inspect]]
      end
      lane = fibers(seen)
      assert_equal ["[nil, nil, nil]"] * 3, Array.new(3) { lane.call.body }
    end

    def test_a_fiber_that_keeps_nothing_is_used_again
      lane = fibers(->(_env) { [200, {}, [Fiber.current.object_id.to_s]] })
      assert_equal 1, Array.new(3) { lane.call.body }.uniq.size
    end

    def test_a_fiber_with_only_frozen_variables_of_its_birth_is_reused
      { nil => 1, [] => 3 }.each do |value, fibers|
        used = born_with(value) do
          lane = fibers(->(_env) { [200, {}, [Fiber.current.object_id.to_s]] })
          Array.new(3) { lane.call.body }.uniq.size
        end
        assert_equal fibers, used, value.inspect
      end
    end

    private

    # Gives every fiber a variable, as gems do (fiber-annotation).
    def born_with(value, &)
      make = Fiber.method(:new)
      birth = lambda do |*arguments, **options, &block|
        make.call(*arguments, **options, &block).tap { |fiber| fiber.instance_variable_set(:@born_with, value) }
      end
      Fiber.stub(:new, birth, &)
    end

    def storage
      Fiber.respond_to?(:[]) ? Fiber : {}
    end
  end
end
