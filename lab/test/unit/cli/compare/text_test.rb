# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/compare/text"

module Carat
  class CompareTextTest < Minitest::Test
    MIB = 1024 * 1024
    ROW = { "name" => "requests_per_second", "a" => 1000.04, "b" => 1100.0, "ratio" => 1.1, "interval" => [1.05, 1.152],
            "differs" => true, "settled" => true }.freeze
    REPORT = {
      "verdict" => "different", "interrupted" => false, "rounds" => 12, "rounds_needed" => 48,
      "budget_needed" => 96, "seconds" => 2,
      "confidence" => 0.99, "setups" => [{ "name" => "A", "choice" => "--threads 1" },
                                         { "name" => "B", "choice" => "--threads 5" }],
      "quantities" => [
        ROW, { **ROW, "name" => "pss_at_rest", "a" => 20 * MIB, "b" => 19 * MIB, "ratio" => 0.95, "interval" => nil },
        { **ROW, "name" => "failed_share", "a" => 0.0, "b" => 0.02, "ratio" => nil, "interval" => [0.01, 0.03] },
        { **ROW, "name" => "p99", "a" => nil, "b" => nil, "ratio" => nil, "interval" => nil, "differs" => nil }
      ]
    }.freeze

    def test_differences_stand_in_the_first_line_and_in_their_rows
      assert_equal <<~TEXT.chomp, text
        different: requests/s, PSS at rest, failed
        A: --threads 1
        B: --threads 5
        rounds: 12, each with 2 s of load; all intervals together hold with 99 %

                                A        B   B to A           interval
        requests/s         1000.0   1100.0  +10.0 %  +5.0 % to +15.2 %  differs
        PSS at rest, MiB    20.00    19.00   -5.0 %                     differs
        failed, %            0.00     2.00              +1.00 to +3.00  differs
        p99, ms           unknown  unknown
      TEXT
    end

    def test_memory_is_a_tree_of_what_differs
      leaf = { "file" => "new.rb", "own" => [0, MIB], "inclusive" => [0, MIB], "children" => [] }
      tree = { "file" => "(boot)", "own" => [MIB, MIB - 9], "inclusive" => [MIB, 2 * MIB], "children" => [leaf] }

      assert_equal <<~TEXT.chomp, text(memory: { "tree" => tree }).split("\n\n").last
        memory after the boot, MiB: what differs
              A        B    B - A      own  file
           1.00     2.00    +1.00    +0.00  (boot)
           0.00     1.00    +1.00    +1.00    new.rb
      TEXT
    end

    def test_verdict_without_a_difference_or_without_enough_rounds
      assert text(verdict: "equal").start_with?("equal: nothing differs beyond noise and 1 %\n")
      wide = { **ROW, "differs" => false, "settled" => false, "interval" => [0.08, 18.7] }
      unknown = text(verdict: "not known", quantities: [wide])
      assert unknown.start_with?("not known: requests/s may differ; about 48 rounds would tell: --budget 96\n")
      assert_match(/\+1770.0 %  not known$/, unknown)
      assert text(verdict: "not known", quantities: [wide], budget_needed: 86_401).start_with?(
        "not known: requests/s may differ; this machine is too busy for a verdict within a day\n"
      )
      assert_match(/%  equal$/, text(quantities: [{ **wide, "settled" => true }]))
      assert text(verdict: nil).start_with?("no verdict: about 48 rounds would tell: --budget 96\n")
    end

    def test_interrupt_is_mentioned_and_control_characters_are_escaped
      assert_includes text(interrupted: true), "The comparison was interrupted; this is what is known."
      refute_includes text(setups: [{ "name" => "A", "choice" => "\e[2J" }]), "\e"
    end

    private

    def text(**changes)
      CLI::Compare::Text.new({ **REPORT, **changes.transform_keys(&:to_s) }).to_s
    end
  end
end
