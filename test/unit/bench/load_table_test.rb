# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/bound"
require_relative "../../../bench/lib/load_case"
require_relative "../../../bench/lib/process_tree"
require_relative "../../../bench/lib/roster"

class BenchLoadTableTest < Minitest::Test
  PEERS = Bench::Roster.named(%w[carat carat-t3 puma]).freeze

  def test_what_is_asked_stands_beside_the_figures_of_those_that_are_compared
    comparisons = [Bench::Comparison.new(base: "carat-t3", figure: :rate, bound: Bench::Bound.at_least(0.9))]
    samples = PEERS.zip([80, 100, 95]).to_h { |peer, rate| [peer, [sample(rate), sample(rate)]] }
    rows = cells(Bench::LoadTable.new(samples, comparisons, Bench::Bound.at_least(95)))

    assert_equal ["x carat-t3", "**0.80 (>= 0.9) missed**", "1.00", "0.95"], rows.map { |row| row[8] }
    assert_equal ["req/s", "**80 (>= 95) missed**", "100 (>= 95)", "95"], rows.map { |row| row[1] }
  end

  def test_latencies_are_compared_as_memory_is
    comparisons = [Bench::Comparison.new(base: "carat-t3", figure: :p99, bound: Bench::Bound.at_most(1))]
    rows = cells(Bench::LoadTable.new(PEERS.to_h { |peer| [peer, [sample(80)]] }, comparisons, nil))

    assert_equal ["P99 x carat-t3", "1.00 (<= 1)"], rows.first(2).map { |row| row[8] }
  end

  private

  def sample(rate)
    wrk = Bench::Wrk.new(requests: rate, bytes: 1, rate: rate, p50: 1, p99: 2, errors: 0)
    member = Bench::ProcessTree::Member.new(1, 0, "", Bench::Memory.new(1 << 20, 1 << 20))
    Bench::LoadCase::Sample.new(wrk, 0.01, Bench::Footprint.new("server" => [member]))
  end

  # The cells of every row but the rule.
  def cells(table)
    rows = table.to_s.lines.map { |line| line.split("|").drop(1).map(&:strip) }
    [rows.first, *rows.drop(2)]
  end
end
