# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/server/canary_report"

module Carat
  class CanaryReportTest < Minitest::Test
    OLD = { "generation" => 1, "workers" => 4, "dead_workers" => 0, "requests" => 9000, "errors" => 12, "p50" => 0.0031,
            "p99" => 0.0102 }.freeze
    NEW = { "generation" => 2, "workers" => 1, "dead_workers" => 1, "requests" => 0, "errors" => 0, "p50" => nil,
            "p99" => nil }.freeze
    REPORT = { "percent" => 10, "by" => "request", "old" => OLD, "new" => NEW }.freeze

    def test_both_codes_are_side_by_side
      expected = ["     gen  workers  died  requests  errors  p50 ms  p99 ms",
                  "old    1        4     0      9000      12     3.1    10.2",
                  "new    2        1     1         0       0       -       -"]

      assert_equal expected, CLI::CanaryReport.new(REPORT).lines
    end

    def test_share_names_what_is_counted
      assert_equal "10 % of requests go to generation 2", CLI::CanaryReport.new(REPORT).share
      assert_equal "10 % of clients go to generation 2", CLI::CanaryReport.new(REPORT.merge("by" => "cookie")).share
    end

    def test_report_without_a_figure_is_refused
      assert_raises(KeyError) { CLI::CanaryReport.new(REPORT.merge("new" => {})).lines }
    end
  end
end
