# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/load/text"

module Carat
  class LoadTextTest < Minitest::Test
    MIB = 1024 * 1024
    REPORT = {
      "interrupted" => false, "url" => "http://127.0.0.1:1", "path" => "/x", "connections" => 1, "seconds" => 2.0,
      "generator" => { "name" => "wrk", "version" => "4.1.0" }, "requests" => 200, "failed" => 3,
      "errors" => { "status" => 2, "timeout" => 1 }, "requests_per_second" => 100.0,
      "latency" => { "p50" => 0.0015, "max" => 0.02 }, "unwatched" => nil,
      "cpu" => { "seconds" => 1.0, "cores" => 0.5, "seconds_per_request" => 0.005 },
      "pss" => { "before" => 20 * MIB, "after" => 21 * MIB, "peak" => 22 * MIB },
      "timeline" => [{ "seconds" => 0.0, "pss" => 20 * MIB, "cpu_seconds" => 0.0, "processes" => 3 },
                     { "seconds" => 2.0, "pss" => 21 * MIB, "cpu_seconds" => 1.0, "processes" => 3 }]
    }.freeze

    def test_all_figures_are_there
      assert_equal <<~TEXT.chomp, text
        100.0 requests/s: 200 in 2.0 s over 1 connection, 3 failed (status: 2, timeout: 1)
        http://127.0.0.1:1/x, wrk 4.1.0

        latency    p50     max
             ms  1.500  20.000

        CPU  5.0000 ms a request, 0.50 cores
        PSS  20.0 MiB before, 21.0 after, 22.0 at most

        seconds  cores   PSS  processes
            2.0   0.50  21.0          3
      TEXT
    end

    def test_long_load_has_ten_intervals_that_cover_all_of_it
      points = (0..20).map do |second|
        { "seconds" => second, "pss" => MIB, "cpu_seconds" => second * 0.25, "processes" => 1 }
      end
      rows = text(timeline: points).split("\n\n").last.lines.drop(1)

      assert_equal 10, rows.size
      assert_equal ["0.25"], rows.map { |row| row.split[1] }.uniq
      assert_equal "20.0", rows.last.split.first
    end

    def test_what_is_unknown_is_said
      unknown = text(unwatched: "the server runs on another machine", cpu: nil, pss: nil, timeline: [])
      assert_includes unknown, "CPU and memory are unknown: the server runs on another machine."
      assert_includes text(pss: nil), "PSS  not readable by this user"
    end

    def test_interrupted_load_says_so
      nothing = text(interrupted: true, url: nil, requests: nil, latency: nil, cpu: nil, pss: nil, timeline: [])

      assert_equal "no measurement\nThe load was interrupted; this is what is known.", nothing
    end

    def test_corrected_latencies_are_said_to_be_corrected
      corrected = /^ +ms .*\ncorrected by the generator: /

      assert_match corrected, text(generator: { "name" => "wrk", "version" => "4.1.0", "corrects" => true })
      refute_match corrected, text
    end

    private

    def text(**changes)
      CLI::Load::Text.new({ **REPORT, **changes.transform_keys(&:to_s) }).to_s
    end
  end
end
