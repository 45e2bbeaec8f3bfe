# frozen_string_literal: true

require "test_helper"

module Scheduler
  # Closing an IO that a fiber waits for.
  class ClosingTest < Support::SchedulerTest
    also_under_stress

    def test_closing_an_io_ends_the_wait_for_it
      reader, @writer = IO.pipe
      error = nil
      fibers do
        go { error = assert_raises(IOError) { reader.read(1) } }
        reader.close
      end
      assert_equal "stream closed in another thread", error.message
    end

    def test_another_thread_closes_an_io_that_a_fiber_waits_for
      reader, @writer = IO.pipe
      fibers do
        go do
          give_way_until { waiting == 1 }
          Thread.new { reader.close }.join
        end
        assert_raises(IOError) { reader.wait_readable }
      end
    end

    def test_an_io_is_closed_in_any_ractor
      program = <<~RUBY
        require "carat"
        Carat.run { nil }
        ractor = Ractor.new do
          reader, writer = IO.pipe
          [IO.pipe[0].tap(&:close_read), IO.pipe[1].tap(&:close_write), reader.reopen(writer), writer].each(&:close)
          reader.closed?
        end
        print ractor.respond_to?(:value) ? ractor.value : ractor.take
      RUBY
      output = IO.popen([RbConfig.ruby, "-W0", "-Ilib", "-e", program], err: %i[child out], &:read)
      assert_equal "true", output
    end

    def test_closing_one_end_of_a_process_ends_the_wait_for_it_alone
      fibers do
        process = IO.popen("sleep 1000", "r+")
        reader = go { assert_equal "", process.read }
        go do
          assert_raises(IOError) { process.write("x" * 1_000_000) }
          Process.kill(:KILL, process.pid)
          give_way_until { !reader.alive? }
          process.close
        end
        process.close_write
      end
    end

    def test_closing_the_reading_end_of_a_process_ends_the_wait_for_it
      fibers do
        process = IO.popen("cat", "r+")
        go { assert_raises(IOError) { process.read } && process.close }
        process.close_read
      end
    end

    def test_closing_a_process_ends_the_waits_for_both_ends
      fibers do
        process = IO.popen("sleep 1000", "r+")
        go { assert_raises(IOError) { process.write("x" * 1_000_000) } }
        go { assert_raises(IOError) { process.read } }
        Process.kill(:KILL, process.pid)
        process.close
      end
    end

    def test_an_io_that_becomes_another_ends_the_wait_for_it
      reader, @writer = IO.pipe
      other, writer = IO.pipe
      fibers do
        go { assert_raises(IOError) { reader.read(1) } }
        reader.reopen(other)
        writer.write("z")
        assert_equal "z", reader.readpartial(9)
      end
    end
  end
end
