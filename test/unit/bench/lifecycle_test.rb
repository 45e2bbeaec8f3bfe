# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/lifecycle"
require_relative "../../../bench/lib/server_event"

class BenchLifecycleTest < Minitest::Test
  LIFECYCLE = Bench::Lifecycle.new(
    [[1, "mold ready", "gen" => 1, "pid" => 10, "boot_ms" => 900],
     [2, "worker ready", "gen" => 1, "pid" => 11, "boot_ms" => 16],
     [5, "worker is to be replaced", "gen" => 1], [6, "mold ready", "gen" => 2, "pid" => 12],
     [7, "worker ready", "gen" => 2, "pid" => 13, "boot_ms" => 9], [8, "worker ended", "gen" => 1],
     [9, "more workers", "workers" => 2]].map { |at, message, fields|
 Bench::ServerEvent.new(at, message, fields) }
  )

  def test_what_happened_to_processes_since_a_time_has_a_span
    assert_equal 5..8, LIFECYCLE.since(3).span
    assert_nil LIFECYCLE.since(9).span
  end

  def test_times_and_counts_are_those_of_their_lines
    assert_equal [[2, 7], [8], [16, 9]], [LIFECYCLE.readies, LIFECYCLE.ends, LIFECYCLE.boots]
    assert_equal 1, LIFECYCLE.count(/is to be replaced/)
    assert_equal 1, LIFECYCLE.generations
  end

  def test_molds_and_workers_have_been_ready
    assert_equal [10, 11, 12, 13], LIFECYCLE.ready_pids
  end
end
