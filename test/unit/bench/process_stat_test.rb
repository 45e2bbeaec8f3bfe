# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/process_stat"

class BenchProcessStatTest < Minitest::Test
  LINE = "42 (ruby: a) b) S 7 40 40 0 -1 4194560 1 2 3 4 100 50 20 30 20 0 1 0 99"

  def test_a_name_with_parentheses_and_spaces_does_not_move_the_fields
    stat = Bench::ProcessStat.parse(LINE)

    assert_equal [42, 7, 40], [stat.pid, stat.parent, stat.group]
  end

  def test_cpu_counts_children_that_were_waited_for
    assert_in_delta 200.0 / Etc.sysconf(Etc::SC_CLK_TCK), Bench::ProcessStat.parse(LINE).cpu
  end
end
