# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../../../bench/lib/bench"

class BenchPageAccountTest < Minitest::Test
  MEGABYTE = 1 << 20

  # Two processes that differ in nothing but what the child does here: it writes one word to each of 64 pages, what they
  # contain to 64 others, and all words of 64 more, and makes 16 MB. They end with their standard input.
  FAMILY = <<~'RUBY'
    GC.disable
    few, same, many = Array.new(3) { "x" * (8 << 20) }
    other = "y" * 4096
    parent = Process.pid
    pid = fork do
      64.times do |index|
        few.setbyte(index * 4096, 1)
        same.setbyte(index * 4096, "x".ord)
        many[index * 4096, 4096] = other
      end
      made = "z" * (16 << 20)
      puts "#{parent} #{Process.pid} #{made.bytesize}"
      $stdout.flush
      $stdin.read
    end
    Process.wait(pid)
  RUBY

  def test_pages_are_told_apart_by_what_was_written_to_them
    tallies = IO.popen([RbConfig.ruby, "-e", FAMILY], "r+") do |family|
      parent, child = family.gets.split.map { |word| Integer(word) }
      Bench::PageAccount.of(child, parent)
    end
    added, same, few, many = tallies.fetch("malloc, threads, and the rest").to_a

    assert_includes (15 * MEGABYTE)...(24 * MEGABYTE), added
    [same, few, many].each { |bytes| assert_includes (60 * 4096)...MEGABYTE, bytes }
    assert_includes 4096...(4 * MEGABYTE), tallies.fetch("objects").sum
  end

  def test_tallies_add_up
    one, other = [1, 2, 3, 4], [10, 20, 30, 40]
    sum = [one, other].map { |counts| Bench::PageAccount::Tally.new(*counts) }.reduce(:+)

    assert_equal [[11, 22, 33, 44], 110], [sum.to_a, sum.sum]
  end

  def test_a_region_has_a_name_unless_it_is_anonymous
    stack, heap = ["7ffd-7ffe rw-p 00000000 00:00 0 [stack]\n", "7f00-7f10 rw-p 00000000 00:00 0 \n"].map do |line|
      Bench::Pagemap.region(line)
    end

    assert_equal ["[stack]", nil], [stack.name, heap.name]
  end
end
