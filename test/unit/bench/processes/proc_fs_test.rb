# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchProcFsTest < Minitest::Test
  STAT = "42 (ruby: a) b) S 7 40 40 0 -1 4194560 1 2 3 4 100 50 20 30 20 0 1 0 99"

  def test_private_memory_is_clean_dirty_and_huge_pages
    memory = Bench::ProcFs.parse_memory(<<~ROLLUP)
      55da31711000-7fff18f30000 ---p 00000000 00:00 0                          [rollup]
      Rss:                1808 kB
      Pss:                 369 kB
      Pss_Anon:            112 kB
      Private_Clean:         8 kB
      Private_Dirty:       112 kB
      Private_Hugetlb:       1 kB
    ROLLUP

    assert_equal [369 * 1024, 121 * 1024], memory.to_a
  end

  def test_a_process_that_has_gone_raises
    assert_raises(Errno::ENOENT) { Bench::ProcFs.memory(0) }
  end

  def test_the_clock_is_the_processor_time_of_that_process
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    cpu = Bench::ProcFs.cpu([Process.pid])

    assert cpu.between?(before, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID))
  end

  def test_a_name_with_parentheses_and_spaces_does_not_move_the_fields
    stat = Bench::ProcFs.parse_stat(STAT)

    assert_equal [42, 7, 40], [stat.pid, stat.parent, stat.group]
    assert_in_delta 200.0 / Etc.sysconf(Etc::SC_CLK_TCK), stat.cpu, 1e-9, "with the children"
  end

  def test_bytes_written_to_files_are_counted
    assert_operator Bench::ProcFs.disk_bytes([Process.pid]), :>=, 0
  end
end
