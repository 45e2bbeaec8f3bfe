# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/process_tree"
require_relative "../../../bench/lib/roster"
require_relative "../../../bench/lib/weight_case"

class BenchWeightTableTest < Minitest::Test
  MEGABYTE = 1 << 20
  # Name => MB of each worker after boot and after the load.
  WORKERS = { "carat-warm-w1" => [1, 4], "carat-warm-w4" => [1, 4], "puma-w1" => [5, 18], "puma-w4" => [5, 18],
              "carat-bare-w4" => [1, 2] }.freeze

  def test_a_line_is_fitted_through_what_so_many_workers_weigh
    assert_includes table, "| carat-warm | 40.0 | 1.0 | 40.0 | 4.0 |"
  end

  def test_what_a_worker_adds_is_compared_with_puma_and_with_a_bare_worker
    assert_match(/^\| carat-warm \|.* 2\.0 \| 0\.22 \(<= 0\.25\) \|$/, table)
    assert_match(/^\| puma .* 16\.0 \| +1\.00 \|$/, table)
    refute_includes table, "missed"
  end

  def test_a_line_that_misses_what_is_asked_is_marked
    heavy = WORKERS.merge("carat-warm-w1" => [1, 6], "carat-warm-w4" => [1, 6])

    assert_includes table(heavy), "**0.33 (<= 0.25) missed**"
  end

  def test_what_a_worker_has_of_its_own_is_told_for_the_largest_number_of_them
    assert_match(/^\| carat-warm-w4 +\| +4 \| +1\.0 \| +2\.0 \| +0\.5 \|$/, table)
    refute_match(/^\| carat-warm-w1 +\| +1 \| +1\.0 \| +2\.0 \|/, table)
  end

  def test_requests_of_workers_and_those_that_failed_are_told
    assert_match(/^\| carat-warm-w4 .* 1 900-2 100 \| +0 \(<= 0\) \|$/, table)
  end

  private

  def table(sizes = WORKERS)
    samples = Bench::Roster.named(sizes.keys).to_h { |peer| [peer, [sample(peer, *sizes.fetch(peer.name))]] }
    Bench::WeightTable.new(samples, base: "puma", bare: "carat-bare").to_s.squeeze(" ")
  end

  def sample(peer, boot, loaded)
    origin = Bench::PageOrigin.new(MEGABYTE, 2 * MEGABYTE, MEGABYTE / 2)
    Bench::WeightCase::Sample.new(boot: footprint(peer, boot), loaded: footprint(peer, loaded),
                                  served: [1900, 2100], failed: 0, origin: origin)
  end

  def footprint(peer, megabytes)
    Bench::Footprint.new("mold" => [member(40)], "worker" => Array.new(peer.workers) { member(megabytes) })
  end

  def member(megabytes)
    Bench::ProcessTree::Member.new(1, 0, "", Bench::Memory.new(megabytes * MEGABYTE, megabytes * MEGABYTE))
  end
end
