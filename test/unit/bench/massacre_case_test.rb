# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/massacre_case"
require_relative "../../../bench/lib/roster"

class BenchMassacreCaseTest < Minitest::Test
  def test_every_get_is_answered_and_everybody_is_back
    table = table(failed: 0, back: true)

    assert_includes table, "| 1 | 3 | 1 | 2 | 10 | 0 (<= 0) | 200: 10 |"
    assert_match(/\| +yes \|$/, table)
  end

  def test_a_get_that_failed_and_a_process_that_is_missing_are_marked
    table = table(failed: 1, back: false)

    assert_includes table, "**1 (<= 0) missed**"
    assert_match(/\| +\*\*no\*\* \|$/, table)
  end

  private

  def table(failed:, back:)
    windows = Array.new(10) { Bench::Latencies.new(requests: 1, failed: 0, latencies: [[1000, 1]]) }
    windows.first.failed = failed
    report = Bench::Steady::Report.new(windows: windows, statuses: { "200" => 10 })
    sample = Bench::MassacreCase::Sample.new(report: report, kills: { "worker" => 3, "mold" => 1 }, back: back,
                                             generations: 2)
    Bench::MassacreCase.new(title: "", app: "", path: "/", seconds: 1, peers: [])
                       .table(Bench::Roster.named(%w[carat-kill-t3]).first => [sample]).to_s.squeeze(" ")
  end
end
