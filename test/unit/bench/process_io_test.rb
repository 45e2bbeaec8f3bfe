# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/process_io"

class BenchProcessIoTest < Minitest::Test
  TEXT = "rchar: 6976\nwchar: 300\nsyscr: 10\nsyscw: 2\nread_bytes: 45\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n"

  def test_what_was_written_and_what_of_it_went_to_files
    assert_equal [300, 4096], Bench::ProcessIo.parse(TEXT).to_a
  end

  def test_processes_are_added_and_the_value_before_is_taken_off
    before = Bench::ProcessIo.new(100, 1)
    after = Bench::ProcessIo.new(150, 2) + Bench::ProcessIo.new(50, 3)

    assert_equal [100, 4], (after - before).to_a
  end

  def test_this_process_has_written
    assert_operator Bench::ProcessIo.of([Process.pid]).written, :>=, 0
  end
end
