# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchWeightTest < Minitest::Test
  # Server => MB of each worker after boot and after the load.
  WORKERS = { "carat-warm-w1" => [1, 4], "carat-warm-w4" => [1, 4], "puma-w1" => [5, 18], "puma-w4" => [5, 18],
              "carat-bare-w4" => [1, 2] }.freeze

  def test_a_line_is_fitted_through_what_the_workers_weigh
    assert_includes table, "| carat-warm | 40.0 | 1.0 | 40.0 | 4.0 |"
  end

  def test_what_a_worker_adds_is_compared_with_puma_and_with_a_bare_worker
    assert_match(/^\| carat-warm \|.* 2\.0 \| 0\.22 \(<= 0\.25\) \|$/, table)
    assert_match(/^\| puma .* 16\.0 \| +1\.00 \|$/, table)
    refute_includes table, "missed"
  end

  def test_a_line_that_misses_the_target_is_marked
    heavy = WORKERS.merge("carat-warm-w1" => [1, 6], "carat-warm-w4" => [1, 6])

    assert_includes table(heavy), "**0.33 (<= 0.25) missed**"
  end

  def test_the_most_workers_show_where_their_own_memory_comes_from
    assert_match(/^\| carat-warm-w4 +\| +4 \| +1\.0 \| +2\.0 \| +0\.5 \|$/, table)
    refute_match(/^\| carat-warm-w1 +\| +1 \| +1\.0 \| +2\.0 \|/, table)
  end

  def test_requests_of_workers_and_failed_ones_are_shown
    assert_match(/^\| carat-warm-w4 .* 1 900-2 100 \| +0 \(<= 0\) \|$/, table)
  end

  private

  def table(sizes = WORKERS)
    kase = Bench::Cases.named(%w[weight]).first
    rounds = sizes.to_h do |name, mb|
      spec = Bench::Servers.named([name]).first
      [spec, [{ nil => sample(spec.workers, *mb) }]]
    end
    kase.table(kase.rows(rounds)).squeeze(" ")
  end

  def sample(workers, boot, loaded)
    { boot_mb: 40 + (workers * boot), loaded_mb: 40 + (workers * loaded), roles: { "worker" => [workers, loaded] },
      boot_private_mb: boot, loaded_private_mb: loaded, served: [1900, 2100], failed: 0, written_mb: 1, added_mb: 2,
      files_mb: 0.5 }
  end
end
