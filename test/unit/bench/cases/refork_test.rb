# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchReforkTest < Minitest::Test
  # Milliseconds from this tenth of a second on.
  LATENCIES = { 0 => 10, 20 => 25, 30 => 12 }.freeze

  def test_latencies_during_the_refork_are_compared_with_those_before
    latencies = Bench::Refork.latencies(report, 1002.15..1002.85)

    assert_in_delta 0.7, latencies.delete(:took)
    assert_equal({ before_p99_ms: 10.0, during_p99_ms: 25.0, after_p99_ms: 12.0, ratio: 2.5 }, latencies)
  end

  private

  def report
    windows = Array.new(40) do |index|
      milliseconds = LATENCIES.select { |from, _| from <= index }.values.last
      Bench::Latencies.new(requests: 10, failed: 0, latencies: [[milliseconds * 1000, 10]])
    end
    Bench::SteadyLoad::Report.new(started: 1000.0, seconds: 4.0, window_seconds: 0.1, windows: windows, workers: {},
                                  statuses: { "200" => 400 })
  end
end
