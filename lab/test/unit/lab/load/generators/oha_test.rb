# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/lab/load/generators/oha"

module Carat
  class LabOhaTest < Minitest::Test
    REPORT = {
      "summary" => { "successRate" => 1.0, "total" => 2.0, "slowest" => 0.012, "fastest" => 0.001 },
      "latencyPercentiles" => { "p10" => 0.001, "p50" => 0.0015, "p75" => 0.002, "p90" => 0.003, "p95" => 0.004,
                                "p99" => 0.009, "p99.9" => 0.0095, "p99.99" => 0.01 },
      "statusCodeDistribution" => { "200" => 850, "302" => 50, "503" => 100 },
      "errorDistribution" => { "aborted due to deadline" => 10, "connection refused" => 3 }
    }.freeze

    def test_report_becomes_traffic
      traffic = parse(REPORT)

      assert_equal [900, 103, 2.0], [traffic.requests, traffic.failed, traffic.seconds]
      assert_equal({ "connection refused" => 3, "status" => 100 }, traffic.errors)
      assert_equal %w[p50 p75 p90 p99 p99.9 max], traffic.latency.keys
      assert_equal [0.0015, 0.012], traffic.latency.values_at("p50", "max")
    end

    def test_requests_that_the_end_cuts_off_are_no_errors
      traffic = parse({ **REPORT, "statusCodeDistribution" => { "200" => 1 },
                                  "errorDistribution" => { "aborted due to deadline" => 10 } })

      assert_equal [1, 0, {}], [traffic.requests, traffic.failed, traffic.errors]
    end

    def test_warnings_before_the_report_are_skipped
      assert_equal 900, Lab::Load::Oha.parse("a warning\n#{JSON.pretty_generate(REPORT)}").requests
    end

    def test_other_output_is_no_report
      assert_nil Lab::Load::Oha.parse("error: invalid value\n")
      assert_nil Lab::Load::Oha.parse("{}")
    end

    private

    def parse(report)
      Lab::Load::Oha.parse(JSON.pretty_generate(report))
    end
  end
end
