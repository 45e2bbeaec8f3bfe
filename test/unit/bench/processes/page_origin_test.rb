# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../../../bench/lib/bench"

class BenchPageOriginTest < Minitest::Test
  MEGABYTE = 1 << 20

  # A process of its own: in that of the suite, what a child makes may lie where its parent has had something.
  FAMILY = <<~'RUBY'
    MEGABYTE = 1 << 20
    GC.disable
    before = "x" * (8 * MEGABYTE)
    reader, writer = IO.pipe
    pid = fork do
      8.times { |index| before.setbyte(index * MEGABYTE, 1) }
      made = "y" * (16 * MEGABYTE)
      writer.puts(made.bytesize)
      sleep
    end
    reader.gets
    origin = Bench::PageOrigin.of(pid, Process.pid)
    puts "#{origin.written} #{origin.added}"
    Process.kill(:KILL, pid)
    Process.wait(pid)
  RUBY

  def test_a_child_owns_the_pages_that_it_wrote_or_added
    output = IO.popen([RbConfig.ruby, "-r", Bench::ClientProcess::LIBRARY, "-e", FAMILY], &:read)
    written, added = output.split.map { |bytes| Integer(bytes) }

    assert_includes (8 * 4096)...(8 * MEGABYTE), written # and what Ruby itself writes in a child
    assert_includes (15 * MEGABYTE)...(24 * MEGABYTE), added # the parent's old pages may have a few of them
  end

  def test_a_region_is_one_of_a_file_or_not
    file, heap = ["55d0-55d2 r--p 00000000 fe:00 1 /usr/bin/ruby\n", "7f00-7f10 rw-p 00000000 00:00 0 \n"].map do |line|
      Bench::Pagemap.region(line)
    end

    assert_equal [true, false, 0x7f00...0x7f10], [file.file, heap.file, heap.addresses]
    assert_nil Bench::Pagemap.region("7ff0-7ff2 r-xp 00000000 00:00 0 [vdso]\n")
  end
end
