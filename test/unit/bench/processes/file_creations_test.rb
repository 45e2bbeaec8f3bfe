# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchFileCreationsTest < Minitest::Test
  REPORT = <<~STRACE
    42 openat(AT_FDCWD, "/etc/localtime", O_RDONLY|O_CLOEXEC) = 7
    42 openat(AT_FDCWD, "/tmp/puma20261121-1-abc", O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC, 0600) = 7
    43 openat(AT_FDCWD, "/var/tmp", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 8
    43 memfd_create("carat", MFD_CLOEXEC) = 9
  STRACE

  def test_named_and_unnamed_files_count_and_opened_ones_do_not
    assert_equal 3, Bench::FileCreations.count_in(REPORT)
  end
end
