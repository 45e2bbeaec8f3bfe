# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/process_tree"
require_relative "../../../bench/lib/roster"
require_relative "../../../bench/lib/sleepers_case"

class BenchSleepersCaseTest < Minitest::Test
  def test_growth_is_that_of_the_whole_tree_for_each_request
    sample = sample(times: [[1.0, 3.0], [1.5, 3.0]])

    assert_in_delta 15_000, sample.bytes
    assert_in_delta 10_000, sample.bytes_of("worker")
  end

  def test_who_did_not_sleep_when_the_memory_was_read_is_not_counted
    assert_equal 1, sample(times: [[1.0, 3.0], [2.1, 4.0], [0.0, 1.9]]).together
  end

  def test_a_request_that_was_not_answered_or_did_not_sleep_is_shown
    carat = Bench::Roster.named(%w[carat]).first
    table = Bench::SleepersCase.new(title: "", app: "", peers: []).table(carat => [sample(times: [[0.0, 1.0]])]).to_s

    assert_includes table, "**1 (>= 2) missed**"
    assert_includes table, "**0 (>= 2) missed**"
    assert_includes table, "14.6 (<= 28) | edge 4.9, mold 0.0, worker 9.8"
  end

  private

  def sample(times:)
    Bench::SleepersCase::Sample.new(asked: 2, before: footprint(1000, 1000), asleep: footprint(11_000, 21_000),
                                    after: footprint(1000, 1000), times: times, sampled: 2.0)
  end

  def footprint(edge, worker)
    sizes = { "edge" => edge, "mold" => 1000, "worker" => worker }
    Bench::Footprint.new(sizes.transform_values { |bytes| [member(bytes)] })
  end

  def member(bytes)
    Bench::ProcessTree::Member.new(1, 0, "", Bench::Memory.new(bytes, bytes))
  end
end
