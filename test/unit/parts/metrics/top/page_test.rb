# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/metrics/top"
require_relative "overview"

module Carat
  class TopPageTest < Minitest::Test
    def test_summary_has_rates_times_and_memory
      assert_equal ["carat 0.1.0, pid 40, serving, up 5 min; 2 workers of 2 wanted",
                    "last minute: 10.0 requests/s, 0.5 errors/s; p50 12 ms, p99 1.3 s; queue p99 -",
                    "now: 3 running, 1 waiting of at most 1024; 7 connections; memory 40.0 MiB, 24.0 private"],
                   page.summary
    end

    def test_collections_of_workers_have_a_line_when_there_were_any
      group = { "count" => 2, "seconds" => 0.2 }
      names = %w[between_requests beside_requests within_requests]
      report = { **names.to_h { |name| [name, group] }, "waited_requests" => 1, "haste" => { "bound" => 2 } }

      assert_equal "full collections: 2 between requests, 2 beside, 2 within: 2 bound (0.6 s); 1 request waited",
                   page("collections" => report).summary.last
    end

    def test_each_process_and_each_request_has_a_line
      lines = page.lines.map(&:split)

      assert_includes lines, %w[edge - - - 9.0 15.0 13.0 5 min - 40]
      assert_includes lines, %w[worker 2 serving 2 100 8.0 15.0 12.0 60.0 s 1 42]
      assert_includes lines, %w[4.3 s 1 0 runs GET /reports]
    end

    def test_without_metrics_the_rate_is_that_of_two_reports
      first = page("metrics" => nil)
      later = [worker(1, 130), worker(3, 20)]
      rate = first.rate(Overview::ALL.merge("processes" => later), 2.0)

      assert_includes first.summary[1], "rate not known yet"
      assert_in_delta 25.0, rate
      summary = CLI::Top::Page.new(Overview::ALL.merge("metrics" => nil), rate:).summary
      assert_includes summary[1], "last seconds: 25.0 requests/s"
    end

    def test_control_characters_of_clients_and_of_the_application_are_escaped
      hostile = "GET /\e]0;x\a\u009B2J\u202E\n"
      requests = [Overview::REQUESTS[0].merge("request" => hostile)]
      app = { "name" => hostile, "number" => 1, "generation" => 1, "pid" => 50, "state" => "running", "age" => 1.0 }
      text = page("requests" => requests, "app_processes" => [app], "version" => hostile).lines

      assert_empty text.grep(/[\p{Cc}\p{Cf}&&[^\n]]/)
      assert_includes text.last, 'GET /\\e]0;x\\a\\u009B2J\\u202E'
    end

    private

    def page(changes = {}) = CLI::Top::Page.new(Overview::ALL.merge(changes))

    def worker(number, requests) = Overview::WORKERS[0].merge("pid" => 40 + number, "requests" => requests)
  end
end
