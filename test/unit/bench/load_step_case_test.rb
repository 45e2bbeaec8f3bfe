# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/load_step_case"
require_relative "../../../bench/lib/process_tree"
require_relative "../../../bench/lib/roster"

class BenchLoadStepCaseTest < Minitest::Test
  def test_workers_that_come_in_time_and_leave_no_memory_behind_are_what_is_asked
    table = table(back: 105)

    assert_includes table, "| carat-elastic | 8 (>= 8) | 0.80 (<= 1) | 1.0 | 1.0 | 1.0 | 6.0 | 1 |"
    assert_includes table, "| 100.0 | 800.0 | 105.0 | 1.05 (<= 1.1) | 3 | 0 (<= 0) |"
  end

  def test_memory_that_stays_and_workers_that_come_late_are_marked
    table = table(back: 120, top: 7, grown: 1.5)

    assert_includes table, "**1.20 (<= 1.1) missed**"
    assert_includes table, "**7 (>= 8) missed**"
    assert_includes table, "**1.50 (<= 1) missed**"
  end

  private

  def table(back:, top: 8, grown: 0.8)
    window = Bench::Latencies.new(requests: 1, failed: 0, latencies: [[1000, 1]])
    report = Bench::Steady::Report.new(windows: [window], statuses: { "200" => 1 })
    sample = Bench::LoadStepCase::Sample.new(calm: footprint(1, 100), top: footprint(top, 100), grown: grown,
                                             back: footprint(1, back), shrunk: 6.0, reports: [report] * 3)
    Bench::LoadStepCase.new(title: "", app: "", path: "/", most: 8, peers: [])
                       .table(Bench::Roster.named(%w[carat-elastic]).first => [sample]).to_s.squeeze(" ")
  end

  def footprint(workers, megabytes)
    memory = Bench::Memory.new(megabytes << 20, 0)
    Bench::Footprint.new("worker" => Array.new(workers) { Bench::ProcessTree::Member.new(1, 0, "", memory) })
  end
end
