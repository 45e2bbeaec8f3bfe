# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/load/generators/wrk"

module Carat
  class LabWrkTest < Minitest::Test
    OUTPUT = <<~TEXT
      Running 1s test @ http://127.0.0.1:9292/
        10 connections
      carat requests=1000 duration=2000000 connect=1 read=2 write=0 timeout=0 status=100 p50=1500 p75=2000 p90=3000 \
      p99=9000 p99.9=9500 max=12000
    TEXT

    def test_report_becomes_traffic
      traffic = Lab::Load::Wrk.parse(OUTPUT)

      assert_equal [900, 103, 2.0, 450.0], [traffic.requests, traffic.failed, traffic.seconds, traffic.rate]
      assert_equal({ "connect" => 1, "read" => 2, "status" => 100 }, traffic.errors)
      assert_equal [0.0015, 0.009, 0.012], traffic.latency.values_at("p50", "p99", "max")
    end

    def test_latency_is_unknown_without_a_response
      traffic = Lab::Load::Wrk.parse(OUTPUT.sub("requests=1000", "requests=0").sub("status=100", "status=0"))

      assert_equal [0, [nil]], [traffic.requests, traffic.latency.values.uniq]
    end

    def test_other_output_is_no_report
      assert_nil Lab::Load::Wrk.parse("unable to connect to 127.0.0.1:1 Connection refused\n")
    end

    def test_no_connection_is_lost_among_the_threads
      [1, 2, 3, 7, 10, 64].each do |connections|
        words = Lab::Load::Wrk.command("wrk", "http://127.0.0.1/", seconds: 1, connections:)

        assert_equal 0, connections % Integer(words[words.index("-t") + 1], 10)
      end
    end
  end
end
