# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/server/memory/table"

module Carat
  class TableTest < Minitest::Test
    MIB = 1024 * 1024

    def self.process(role, number, figures: nil, sizes: [20, 10, 5])
      rss, pss, private_size = sizes.map { |size| size * MIB }
      memory = { "rss" => rss, "pss" => pss, "private" => private_size, "shared" => rss - private_size, "swap" => 0,
                 "sharing_percent" => 75.0 }
      { "role" => role, "number" => number, "generation" => 1, "pid" => 42, "requests" => number && 1000,
        "memory" => memory, "figures" => figures }
    end

    FIGURES = {
      "heap" => { "bytes" => 3 * MIB, "live_slots" => 20_000, "free_slots" => 500 }, "gc" => { "time_share" => 0.0214 },
      "allocator" => { "name" => "jemalloc", "allocated" => 2 * MIB },
      "jit" => { "name" => "YJIT", "code" => 3 * MIB, "metadata" => 6 * MIB }
    }.freeze
    REPORT = {
      "version" => "0.1.0", "pid" => 41,
      "processes" => [process("edge", nil, figures: { "allocator" => { "name" => "jemalloc" } }),
                      process("worker", 1, figures: FIGURES), process("worker", 12, figures: FIGURES)],
      "totals" => { "pss" => 30 * MIB, "private" => 15 * MIB, "shared" => 15 * MIB, "swap" => 0 },
      "fit" => { "workers" => 2, "base" => 20 * MIB, "per_worker" => 5 * MIB }, "without_sharing" => 50 * MIB,
      "passing_molds" => 0
    }.freeze

    def test_terminal_control_characters_are_escaped
      text = CLI::Memory::Table.new(REPORT.merge("version" => "\e]0;x\a\u009B2J\r")).to_s

      assert_includes text, 'carat \\e]0;x\\a\\u009B2J\\r, pid'
      refute_match(/[^[:print:]\n]/, text)
    end

    def test_each_process_has_a_line_below_the_headings
      lines = text.lines(chomp: true)

      assert_equal "carat 0.1.0, pid 41; sizes in MiB, slots in numbers", lines[0]
      assert_equal %w[process gen pid PSS private shared swap sharing heap live free malloc allocator JIT GC requests],
                   lines[1].split
      assert_equal %w[edge 1 42 10.0 5.0 15.0 0.0 75.0% - - - - jemalloc - - -], lines[2].split
      assert_equal %w[worker 12 1 42 10.0 5.0 15.0 0.0 75.0% 3.0 20000 500 2.0 jemalloc 9.0 2.1% 1000], lines[4].split
      assert_equal %w[total 30.0 15.0 15.0 0.0 2000], lines[5].split
    end

    def test_columns_are_aligned
      ends = text.lines[1..4].map { |line| line.index(/(?<=\s)(PSS|10\.0)(?=\s)/) && Regexp.last_match.end(0) }

      assert_equal 1, ends.uniq.size
    end

    def test_fit_and_savings_follow_the_table
      assert_includes text, "\nn workers weigh 20.0 + 5.0 n; n is 2\nwithout sharing they would weigh 50.0: 20.0 more\n"
      assert_includes text(REPORT.merge("without_sharing" => 29 * MIB)), "would weigh 29.0: 1.0 less\n"
    end

    def test_mold_that_ends_soon_is_named_and_spoils_no_sum
      processes = REPORT["processes"] + [self.class.process("previous_mold", nil, figures: FIGURES)]
      totals = REPORT["totals"].merge("pss" => 40 * MIB)
      lines = text(REPORT.merge("processes" => processes, "totals" => totals, "passing_molds" => 10 * MIB))

      assert_match(/^previous mold +1 +42 +10\.0 /, lines)
      assert_includes lines, "would weigh 50.0: 20.0 more\nprevious mold: 10.0 more for a while\n"
      refute_includes lines, "no stats"
    end

    def test_budget_and_its_source_follow_the_table
      budget = { "limit" => 80 * MIB, "used" => 30 * MIB, "whole" => 100 * MIB, "source" => "container" }

      assert_includes text(REPORT.merge("budget" => budget)),
                      "\n30.0 of a budget of 80.0 used; the container has 100.0\n"
    end

    def test_what_is_used_is_told_apart
      clients = { "limit" => 8 * MIB, "used" => 2 * MIB }
      ours = REPORT["totals"].values_at("pss", "swap").sum - (2 * MIB)
      { 0 => "", 20 => ", 20.0 by others in the container, or earlier" }.each do |rest, words|
        budget = { "limit" => 80 * MIB, "used" => ours + ((8 + rest) * MIB), "whole" => 100 * MIB,
                   "source" => "container" }

        assert_includes text(REPORT.merge("budget" => budget, "clients" => clients)),
                        format("\n  of that, %.1f by the processes above, 8.0 kept for clients%s\n", ours / MIB.to_f,
                               words)
      end
    end

    def test_process_without_stats_is_named
      silent = REPORT["processes"] + [self.class.process("worker", 3)]

      assert_includes text(REPORT.merge("processes" => silent)),
                      "\nno stats from: worker 3 (booting, stopping, or a thread holds the GVL)\n"
    end

    def test_unknown_values_are_dashes
      unknown = { "role" => "mold", "generation" => 1, "pid" => 43, "figures" => {} }
      report = REPORT.merge("processes" => [unknown], "fit" => nil, "without_sharing" => nil)

      assert_equal ["mold", "1", "43", *["-"] * 13], text(report).lines[2].split
      refute_includes text(report), "weigh"
    end

    private

    def text(report = REPORT)
      "#{CLI::Memory::Table.new(report)}\n"
    end
  end
end
