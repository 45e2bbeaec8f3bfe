# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/burst_case"
require_relative "../../../bench/lib/roster"

class BenchBurstCaseTest < Minitest::Test
  BURST = Bench::BurstCase::Burst.new(requests: 1000, at_once: 200, every: 50)

  def test_a_server_that_takes_less_time_than_the_other_has_what_is_asked
    table = table({ base: "puma-w4" }, "carat-f256" => [2.5, 1000], "puma-w4" => [5.0, 1000])

    assert_includes table, "| 1 in 50  | carat-f256 |    2.50 | 2.50-2.50 | 0.50 (< 1) | 1 000 (>= 1000) |"
    refute_includes table, "missed"
  end

  def test_a_server_that_takes_too_long_or_forgets_a_request_is_marked
    table = table({ base: "puma-w4", seconds: Bench::Bound.at_most(4) },
                  "carat-f256" => [5.0, 999], "puma-w4" => [5.0, 999])

    assert_equal 3, table.scan("missed").size
  end

  def test_a_case_says_why_it_cannot_run
    assert_equal "no Rails", kase(needs: -> { "no Rails" }).obstacle
  end

  private

  def kase(**options)
    Bench::BurstCase.new(title: "", app: "", environment: -> { {} }, paths: [], bursts: [BURST], peers: [], **options)
  end

  def table(options, figures)
    samples = figures.to_h do |name, figure|
      [Bench::Roster.named([name]).first, [{ BURST => Bench::BurstCase::Sample.new(*figure) }]]
    end
    kase(**options).table(samples).to_s
  end
end
