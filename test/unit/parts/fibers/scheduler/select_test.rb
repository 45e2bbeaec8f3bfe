# frozen_string_literal: true

require "test_helper"
require "socket"

module Scheduler
  # `IO.select`.
  class SelectTest < Support::SchedulerTest
    also_under_stress

    def test_select_waits_for_the_first_of_several
      reader, writer = IO.pipe
      other, @other = IO.pipe
      ready = fibers do
        go { writer.write("x") }
        IO.select([other, reader], nil, nil, 1000)
      end
      assert_equal [[reader], [], []], ready
    end

    def test_select_gives_up_after_its_time
      reader, @writer = IO.pipe
      assert_nil(fibers { IO.select([reader], nil, nil, 0.001) })
    end

    def test_select_knows_what_ruby_has_read_already
      reader, writer = IO.pipe
      writer.write("a\nb\n")
      ready = fibers { reader.gets && select([reader]) }
      assert_equal [[reader], [], []], ready
    end

    def test_select_refuses_what_is_no_time
      reader, @writer = IO.pipe
      fibers { assert_raises(ArgumentError) { IO.select([reader], nil, nil, -1) } }
    end

    def test_the_select_of_kernel_waits_too
      reader, writer = IO.pipe
      ready = fibers do
        go { sleep(0) && writer.write("x") }
        Kernel.select([reader], nil, nil, 1000)
      end
      assert_equal [[reader], [], []], ready
    end

    def test_objects_in_general_have_no_public_select
      refute_respond_to Object.new, :select
    end

    def test_select_for_urgent_data_sleeps_when_the_other_side_is_gone
      near, far = UNIXSocket.pair
      far.close
      assert_select_sleeps_for(near)
    end

    def test_select_for_urgent_data_sleeps_when_there_is_no_other_side
      assert_select_sleeps_for(Socket.new(:INET, :STREAM))
    end

    def test_select_for_urgent_data_of_a_file_sleeps
      File.open(__FILE__) { |file| assert_select_sleeps_for(file) }
    end

    def test_who_waits_for_urgent_data_gets_it
      near, far = tcp_pair
      ready = nil
      fibers do
        go { ready = IO.select([], [], [near], 1000) }
        far.send("!", Socket::MSG_OOB)
      end
      assert_equal [[], [], [near]], ready
    end

    private

    # Ruby is called once before the wait, and perhaps once after the timeout, but not repeatedly.
    def assert_select_sleeps_for(io)
      asked = 0
      fibers do
        assert_nil(Fiber.scheduler.select_with(0.05, [[], [], [io]]) { (asked += 1) && nil })
      end
      assert_operator asked, :<=, 2
    end
  end
end
