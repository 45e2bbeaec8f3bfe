# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchServerLogTest < Minitest::Test
  EVENTS = [
    [1, "mold ready", { "gen" => 1, "pid" => 10, "boot_ms" => 900 }],
    [2, "worker ready", { "gen" => 1, "pid" => 11, "boot_ms" => 16 }],
    [5, "worker will be replaced", { "gen" => 1 }], [6, "mold ready", { "gen" => 2, "pid" => 12 }],
    [7, "worker ready", { "gen" => 2, "pid" => 13, "boot_ms" => 9 }], [8, "worker ended", { "gen" => 1 }],
    [9, "more workers", { "workers" => 2 }]
  ].freeze
  LOG = Bench::ServerLog.new(EVENTS.map { |event| Bench::ServerLog::Event.new(*event) })

  def test_lines_that_carat_did_not_write_are_skipped
    log = Bench::ServerLog.parse(<<~LOG)
      Sinatra says hello
      {"time":"2026-11-21T10:00:00.250Z","level":"info","message":"worker ready","gen":2,"boot_ms":16}
      {"no": "event"}
      {"broken"}
      {"time":"2026-11-21T10:00:01.000Z","lev
    LOG

    assert_equal ["worker ready"], log.events.map(&:message)
    assert_in_delta 0.25, log.events.first.at % 1
    assert_equal 2, log.events.first["gen"]
  end

  def test_the_span_covers_the_events_of_processes
    assert_equal 5..8, LOG.since(3).span
    assert_nil LOG.since(9).span
  end

  def test_times_and_counts_are_those_of_their_lines
    assert_equal [[2, 7], [8], [16, 9]], [LOG.ready_times, LOG.end_times, LOG.boot_times]
    assert_equal [1, 1], [LOG.count(/will be replaced/), LOG.later_generations]
    assert_equal [10, 11, 12, 13], LOG.ready_pids
  end
end
