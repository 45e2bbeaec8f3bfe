# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/page_origin"

class BenchPageOriginTest < Minitest::Test
  MEGABYTE = 1 << 20

  def test_a_child_has_what_it_wrote_and_what_it_made
    before = "x" * (8 * MEGABYTE)
    origin = in_child do
      before.setbyte(0, 1)
      8.times { |index| before.setbyte(index * MEGABYTE / 2, 1) }
      "y" * (16 * MEGABYTE)
    end

    assert_operator origin.added, :>=, 12 * MEGABYTE # some of it may lie where the parent has had something
    assert_operator origin.added, :<, 24 * MEGABYTE
    assert_operator origin.written, :>=, 8 * 4096
    assert_operator origin.written, :<, 20 * MEGABYTE # what this process writes meanwhile counts as well
  end

  def test_a_region_is_one_of_a_file_or_not
    file, heap = ["55d0-55d2 r--p 00000000 fe:00 1 /usr/bin/ruby\n", "7f00-7f10 rw-p 00000000 00:00 0 \n"].map do |line|
      Bench::Pagemap.region(line)
    end

    assert_equal [true, false, 0x7f00...0x7f10], [file.file, heap.file, heap.addresses]
    assert_nil Bench::Pagemap.region("7ff0-7ff2 r-xp 00000000 00:00 0 [vdso]\n")
  end

  private

  # The PageOrigin of a child while it keeps what the block gave. A collection, in either process, would write to many
  # more pages.
  def in_child
    reader, writer = IO.pipe
    GC.start
    GC.disable
    pid = fork do
      kept = yield
      writer.puts(kept.bytesize)
      sleep
    end
    reader.gets
    Bench::PageOrigin.of(pid, Process.pid)
  ensure
    GC.enable
    [reader, writer].each(&:close)
    Process.kill(:KILL, pid)
    Process.wait(pid)
  end
end
