# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/process_tree"
require_relative "../../../bench/lib/refork_case"
require_relative "../../../bench/lib/roster"

class BenchReforkCaseTest < Minitest::Test
  def test_latencies_during_the_refork_are_compared_with_those_before
    table = table(latencies: { 0 => 10, 20 => 25, 30 => 12 }, span: 1002.05..1002.95)

    assert_includes table, "| 0.7 | 10.0 | 25.0 | 12.0 | 2.50 (<= 3) |"
    refute_includes table, "missed"
  end

  def test_slow_answers_and_failed_requests_are_marked
    table = table(latencies: { 0 => 10, 20 => 31 }, span: 1002.05..1002.95, lost: 1)

    assert_includes table, "**3.10 (<= 3) missed**"
    assert_includes table, "**1 (<= 0) missed**"
  end

  def test_no_refork_is_no_figure
    _, warning = capture_io { assert_includes table(latencies: { 0 => 10 }, span: nil), "| - |" }

    assert_includes warning, "no refork in 1 of 1 rounds"
  end

  private

  # latencies: milliseconds from this tenth of a second on.
  def table(latencies:, span:, lost: 0)
    sample = Bench::ReforkCase::Sample.new(report: report(latencies, lost), span: span, before: footprint,
                                           after: footprint)
    carat = Bench::Roster.named(%w[carat-refork-t3]).first
    table = Bench::ReforkCase.new(title: "", app: "", path: "/", seconds: 4, peers: []).table(carat => [sample])
    table.to_s.squeeze(" ")
  end

  def report(latencies, lost)
    windows = Array.new(40) do |index|
      milliseconds = latencies.select { |from, _| from <= index }.values.last
      Bench::Latencies.new(requests: 10, failed: 0, latencies: [[milliseconds * 1000, 10]])
    end
    Bench::Steady::Report.new(begun: 1000.0, window_seconds: 0.1, windows: windows, workers: {},
                              statuses: { "200" => 400, "lost" => lost })
  end

  def footprint
    Bench::Footprint.new("worker" => [Bench::ProcessTree::Member.new(1, 0, "", Bench::Memory.new(0, 0))])
  end
end
