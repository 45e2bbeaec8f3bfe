# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/memory"

class BenchMemoryTest < Minitest::Test
  def test_private_memory_is_clean_dirty_and_huge_pages
    memory = Bench::Memory.parse(<<~ROLLUP)
      55da31711000-7fff18f30000 ---p 00000000 00:00 0                          [rollup]
      Rss:                1808 kB
      Pss:                 369 kB
      Pss_Anon:            112 kB
      Private_Clean:         8 kB
      Private_Dirty:       112 kB
      Private_Hugetlb:       1 kB
    ROLLUP

    assert_equal 369 * 1024, memory.pss
    assert_equal 121 * 1024, memory.private_bytes
  end

  def test_a_process_that_has_gone_raises
    assert_raises(Errno::ENOENT) { Bench::Memory.of(0) }
  end
end
