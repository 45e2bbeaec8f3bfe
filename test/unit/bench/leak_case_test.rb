# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/leak_case"
require_relative "../../../bench/lib/roster"

class BenchLeakCaseTest < Minitest::Test
  def test_a_worker_within_the_limit_has_what_is_asked
    assert_includes table(164 << 20), "| 164.0 (<= 165) |"
  end

  def test_a_worker_beyond_it_is_marked
    assert_includes table(166 << 20), "**166.0 (<= 165) missed**"
  end

  private

  def table(bytes)
    window = Bench::Latencies.new(requests: 2, failed: 0, latencies: [[1000, 2]])
    sample = Bench::LeakCase::Sample.new(report: Bench::Steady::Report.new(windows: [window], statuses: { "200" => 2 }),
                                         peak: Bench::Heaviest::Peak.new(bytes, 10), replaced: 3, workers: 2)
    Bench::LeakCase.new(title: "", app: "", path: "/", requests: 2, rate: 1, peers: [])
                   .table(Bench::Roster.named(%w[carat-leak]).first => [sample]).to_s.squeeze(" ")
  end
end
