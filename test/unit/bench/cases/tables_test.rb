# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

# The table of each case, from samples as a round returns them.
class BenchTablesTest < Minitest::Test
  def test_speed_is_compared_with_the_servers_that_the_case_names
    sample = { p50_ms: 1, p99_ms: 2, cpu_per_1000: 0.01, pss_mb: 9, roles: { "worker" => [1, 9] }, errors: 0 }
    rows = table("fibers", { "carat" => 95, "carat-t3" => 100, "carat-f256" => 80 }
      .transform_values { |rate| { rate: rate, **sample } })

    assert_includes rows, "| carat | 95 | 95-95 | 1.00 | 2.00 | 0.0100 | 9.0 | worker 9.0 | 1.00 | 0.95 | 0 |"
    assert_includes rows, "| **0.84 (>= 0.9) missed** | **0.80 (>= 0.9) missed** |"
  end

  def test_workers_are_compared_with_as_many_of_puma
    sample = { p50_ms: 90, p99_ms: 200, cpu_ms: 70.0, worker_cpu: [1, 2.5], pss_mb: 250, roles: { "worker" => [2, 90] },
               worker_mb: 90, requests: 9, failed: 0, rate: 10 }
    puma = sample.merge(rate: 8, pss_mb: 500, worker_mb: 150)
    rows = table("redmine", "carat-t5-w2" => sample, "carat-t5-w4" => sample.merge(pss_mb: 370), "puma-t5-w2" => puma,
                            "puma-t5-w4" => puma.merge(rate: 12.5, pss_mb: 620))

    assert_includes rows, "| carat-t5-w2 | 10.0 | 1.25 (>= 1) | 90 | 200 | 70.0 | 1-2.5 | 250.0 | 0.50 |"
    assert_includes rows, "| **0.60 (<= 0.5) missed** | 9 | 0 (<= 0) |"
    assert_includes rows, "| carat-t5-w4 | 10.0 | **0.80 (>= 1) missed** |"
    assert_match(/^\| carat-t5 +\| 60.0 \| \*\*1.00 .*missed/, rows.squeeze(" "))
  end

  def test_a_variant_has_a_row_for_each_server
    rows = table("rails_mix", "carat-f256" => { "1 in 50" => burst(2.5, 1000) },
                              "puma-w4" => { "1 in 50" => burst(5.0, 1000) })

    assert_includes rows, "| carat-f256 | 1 in 50 | 2.50 | 2.50-2.50 | 0.50 (< 1) | 1 000 (>= 1000) |"
    refute_includes rows, "missed"
  end

  def test_a_burst_that_takes_too_long_or_loses_a_request_is_marked
    rows = table("rails_sleep", "carat-f256" => { "10, 10 at once" => burst(1.3, 999) })

    assert_includes rows, "**1.30 (<= 1.2) missed**"
    assert_includes rows, "**999 (>= 1000) missed**"
  end

  def test_requests_slower_than_the_target_are_marked
    rows = table("nethttp", { "carat-run" => 8, "async" => 10, "ruby-threads" => 4 }.transform_values do |rate|
      { "10" => { requests: 4, seconds: 1.0, rate: rate, growth_mb: 0, right: 4 } }
    end)

    assert_includes rows, "| carat-run | 10 | 4 | 1.000 | 8 | 8-8 | **2.00 (>= 2.2) missed** | **0.80 (>= 1) missed** |"
  end

  def test_without_the_async_gem_it_is_no_target
    rows = table("nethttp", { "carat-run" => 10, "ruby-threads" => 4 }.transform_values do |rate|
      { "10" => { requests: 4, seconds: 1.0, rate: rate, growth_mb: 0, right: 4 } }
    end)

    refute_includes rows, "missed"
  end

  def test_a_request_that_did_not_sleep_or_complete_is_shown
    sample = { requests: 2, completed: 1, asleep: 0, before_mb: 1, asleep_mb: 2, after_mb: 1, request_kb: 14.6,
               role_kb: { "edge" => 4.9, "worker" => 9.8 } }

    assert_includes table("sleepers", "carat-f10000" => sample),
                    "| **1 (>= 2) missed** | **0 (>= 2) missed** | 1.0 | 2.0 | 1.0 | 14.6 (<= 28) | edge 4.9"
  end

  def test_a_server_of_one_process_has_no_edge
    rows = table("upload", "puma" => { "1 x" => { uploads: 1, seconds: 1, edge_mb: nil, worker_mb: 2, right: 1,
                                                  edge_cpu: nil, all_cpu: 1, memory_samples: 9 } })

    assert_includes rows, "| puma | 1 x | 1.00 | - | 2.00 | 1 | - | 1.00 | 9 |"
  end

  def test_a_round_without_a_refork_has_no_latencies
    sample = { requests: 400, failed: 1, before_mb: 1, after_mb: 1, roles: { "worker" => [4, 1] } }

    assert_includes table("refork", "carat-refork-t3" => sample),
                    "| carat-refork-t3 | - | - | - | - | - | 400 | **1 (<= 0) missed** | 1.0 | 1.0 | worker 4x 1.0 |"
  end

  def test_memory_that_stays_and_workers_that_come_late_are_marked
    sample = { top_workers: 7, grown: 1.5, calm_p99_ms: 1, many_p99_ms: 1, back_p99_ms: 1, shrunk: 6, back_workers: 1,
               calm_mb: 100, top_mb: 800, back_mb: 120, ratio: 1.2, requests: 3, failed: 0 }
    rows = table("load_step", "carat-elastic" => sample)

    assert_includes rows, "| **7 (>= 8) missed** | **1.50 (<= 1) missed** |"
    assert_includes rows, "| **1.20 (<= 1.1) missed** | 3 | 0 (<= 0) |"
  end

  def test_a_worker_beyond_its_limit_is_marked
    rows = [164, 166].map do |megabytes|
      table("leak", "carat-leak" => { requests: 2, failed: 0, p99_ms: 1, max_ms: 1, private_mb: megabytes, readings: 1,
                                      replaced: 3, workers: 2 })
    end

    assert_includes rows.first, "| 164.0 (<= 165) |"
    assert_includes rows.last, "**166.0 (<= 165) missed**"
  end

  def test_a_failed_get_and_a_missing_process_are_marked
    rows = table("chaos", "carat-kill-t3" => { seconds: 1, workers_killed: 3, molds_killed: 1, later_molds: 2, back: 0,
                                               requests: 10, failed: 1, statuses: { "200" => 9, "502" => 1 },
                                               p99_ms: 1, max_ms: 2 })

    assert_includes rows, "| 1 | 3 | 1 | 2 | 10 | **1 (<= 0) missed** | 200: 9, 502: 1 |"
    assert_includes rows, "**0 (>= 1) missed**"
  end

  def test_growth_that_the_whole_interval_shows_is_marked
    rows = soak({ per_hour: 3.0, margin: 1.5 }, { per_hour: 3.0, margin: 2.5 }, { per_hour: 3.0, margin: nil })

    assert_includes rows, "| carat-soak-t3 | edge | 1 | 75 | 2.0-9.5 | 5.0-6.0 | **+3.0 ± 1.5 grows** | 5.0-6.0 | " \
                          "+3.0 ± 2.5 | 5.0-6.0 | - |"
    assert_includes rows, "| carat-soak-t3 | hello | 1 000 | 2 |"
    assert_includes rows, "**2 (<= 0) missed**"
  end

  private

  def soak(pss, unshared, descriptors)
    growth = { pss_mb: pss, private_mb: unshared, descriptors: descriptors, threads: descriptors }
    growth = growth.transform_values { |trend| { from: 5.0, to: 6.0, **trend } }
    sample = { seconds: 60, requests: 9, failed: 0, operations: 1000, errors: 2, most_workers: 3, born: 4,
               later_molds: 1, died: 0, done: { hello: 1000 }, wrong: { hello: 2 } }
    edge = { processes: 1, readings: 75, minutes: [2.0, 9.5], **growth }
    table("soak", "carat-soak-t3" => { **sample, growth: { "edge" => edge } })
  end

  def burst(seconds, completed) = { requests: 1000, seconds: seconds, ok: completed }

  # rounds: server => the sample of its only round.
  def table(name, rounds)
    kase = Bench::Cases.named([name]).first
    rounds = rounds.to_h do |server, sample|
      [Bench::Servers.named([server]).first, [kase.variants ? sample : { nil => sample }]]
    end
    kase.table(kase.rows(rounds)).squeeze(" ")
  end
end
