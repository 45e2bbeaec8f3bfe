# frozen_string_literal: true

require "test_helper"

module Scheduler
  # Large transfers: through pipes, from and to files.
  class TransferTest < Support::SchedulerTest
    also_under_stress

    BIG = ("carat " * 50_000).b.freeze

    def test_a_pipe_carries_more_than_it_holds
      reader, writer = IO.pipe
      read = fibers do
        go { writer.write(BIG) && writer.close }
        reader.read
      end
      assert_equal BIG, read.b
    end

    def test_a_write_to_a_closed_pipe_is_tried_once
      reader, writer = IO.pipe
      reader.close
      writer.sync = true
      calls = counting(:io_write, :io_wait) { assert_raises(Errno::EPIPE) { writer.write("x") } }
      assert_equal({ io_write: 1 }, calls)
    end

    def test_a_write_that_waits_does_not_spin
      reader, writer = IO.pipe
      writer.sync = true
      reads = 0
      calls = counting(:io_write, :io_wait) do
        go { reads += 1 while sleep(0.001) && reader.read_nonblock(65_536, exception: false) }
        writer.write(BIG)
        writer.close
      end
      assert_operator calls.values.sum, :<=, 4 * reads
    end

    # Up to 3.2, Ruby hands on the lock of the IO between a failed system call and reading errno.
    def test_two_writers_of_a_pipe_that_breaks_both_get_its_error
      reader, writer = IO.pipe
      writer.sync = true
      errors = []
      fibers do
        2.times { go { errors << assert_raises(SystemCallError) { writer.write(BIG) }.class } }
        sleep(0)
        reader.close
      end
      assert_equal [Errno::EPIPE] * 2, errors
    end

    def test_others_run_while_a_file_comes_from_the_disk
      Dir.mktmpdir do |directory|
        skip "#{directory} is in memory" if `stat -f -c %T #{directory}`.chomp == "tmpfs"
        ticks = 0
        content = fibers do
          read = nil
          go { ticks += 1 while sleep(0) && !read }
          read = File.open(uncached(directory)) { |file| file.read(8 << 20) }
        end
        assert_equal 8 << 20, content.bytesize
        assert_operator ticks, :>=, 4
      end
    end

    def test_files_are_read_and_written
      Dir.mktmpdir do |directory|
        path = "#{directory}/file"
        fibers do
          assert_equal BIG.bytesize, File.binwrite(path, BIG)
          assert_equal BIG, File.binread(path)
          File.open(path, "r+b") do |file|
            assert_equal "arat", file.pread(4, 1)
            assert_equal 2, file.pwrite("CA", 0)
            assert_equal "CArat ", file.read(6)
          end
        end
      end
    end

    def test_a_descriptor_that_blocks_blocks_only_its_fiber
      reader, writer = IO.pipe
      require "io/nonblock"
      [reader, writer].each { |io| io.nonblock = false }
      read = fibers do
        go { writer.write(BIG) && writer.close }
        reader.read
      end
      assert_equal BIG, read.b
    end

    private

    # Runs the block with a new scheduler. Returns how often these hooks were called.
    def counting(*hooks, &block)
      calls = Hash.new(0)
      scheduler = Carat::Scheduler.new
      hooks.each { |hook| scheduler.define_singleton_method(hook) { |*args| (calls[hook] += 1) && super(*args) } }
      in_thread do
        Fiber.set_scheduler(scheduler)
        Fiber.schedule { around(&block) }
      end
      calls
    end

    # The path of a file without pages in the page cache.
    def uncached(directory)
      "#{directory}/file".tap do |path|
        File.open(path, "wb") do |file|
          file.write("x" * (8 << 20))
          file.fsync
          file.advise(:dontneed)
        end
      end
    end
  end
end
