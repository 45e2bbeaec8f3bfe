# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchSleepersTest < Minitest::Test
  def test_growth_is_that_of_the_whole_tree_for_each_request
    growth = Bench::Sleepers.growth(2, footprint(edge: 10, worker: 10), footprint(edge: 20, worker: 30))

    assert_in_delta 15, growth[:request_kb]
    assert_equal({ "edge" => 5.0, "worker" => 10.0 }, growth[:role_kb])
  end

  def test_only_requests_that_slept_when_the_memory_was_read_count
    assert_equal 1, Bench::Sleepers.asleep_at(2.0, [[1.0, 3.0], [2.1, 4.0], [0.0, 1.9]])
  end

  private

  def footprint(**kilobytes)
    Bench::Footprint.new(kilobytes.to_h do |role, size|
      memory = Bench::ProcFs::Memory.new(size * 1024, size * 1024)
      [role.to_s, [Bench::ProcessTree::Member.new(1, 0, "", memory)]]
    end)
  end
end
