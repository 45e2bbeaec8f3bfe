# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/cli/compare/page"

module Carat
  class ComparePageTest < Minitest::Test
    SAMPLE = { "requests_per_second" => 10.0, "pss_at_end" => 1000 }.freeze
    QUANTITY = { "name" => "requests_per_second", "a" => 10.0, "b" => 9.0, "ratio" => 0.9, "interval" => [0.8, 0.95],
                 "differs" => true }.freeze
    TREE = { "file" => "(boot)", "gem" => "(boot)", "own" => [1, 2], "inclusive" => [100, 180],
             "children" => [{ "file" => "a.rb", "gem" => "a", "own" => [90, 160], "inclusive" => [90, 160],
                              "children" => [] }] }.freeze

    def test_ratios_become_percent
      assert_includes blocks.first["series"].map { |series| series["values"] }, [-20.0, -5.0, nil]
    end

    def test_each_round_is_a_point_of_both_set_ups
      assert_equal [[10.0, 10.0], [10.0, 10.0]], blocks[1]["series"].map { |series| series["values"] }
    end

    def test_bytes_of_files_that_do_not_differ_belong_to_the_file_above
      root = blocks.last["views"].first["root"]

      assert_equal [[10, 10, 20], [70, 90, 160]], [root["o"], root["c"].first["o"]]
    end

    private

    # The data of all plots.
    def blocks
      report = { "verdict" => "different", "rounds" => 2, "seconds" => 2, "confidence" => 0.99, "interrupted" => false,
                 "setups" => [{ "name" => "A", "choice" => "1" }, { "name" => "B", "choice" => "2" }],
                 "quantities" => [QUANTITY], "samples" => [[SAMPLE, SAMPLE]] * 2,
                 "memory" => { "a" => 100, "b" => 180, "tree" => TREE } }
      html = CLI::Compare::Page.new(report, "carat compare").to_s
      html.scan(%r{<script type="application/json">(.*?)</script>}).map { |json,| JSON.parse(json) }
    end
  end
end
