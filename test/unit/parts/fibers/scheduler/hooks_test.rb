# frozen_string_literal: true

require "test_helper"
require "socket"

module Scheduler
  # The hooks, called as Ruby calls them, and their results.
  class HooksTest < Support::SchedulerTest
    also_under_stress

    Warning[:experimental] = false # IO::Buffer

    def test_io_wait_returns_the_events_that_are_there
      near, far = UNIXSocket.pair
      fibers do
        assert_equal IO::WRITABLE, scheduler.io_wait(near, IO::READABLE | IO::WRITABLE, nil)
        far.write("x")
        assert_equal IO::READABLE | IO::WRITABLE, scheduler.io_wait(near, IO::READABLE | IO::WRITABLE, 10)
        assert_equal IO::READABLE, scheduler.io_wait(near, IO::READABLE, 0)
      end
    end

    def test_io_wait_returns_false_when_the_time_is_over
      reader, @writer = IO.pipe
      fibers do
        assert_same false, scheduler.io_wait(reader, IO::READABLE, 0.001)
        assert_same false, scheduler.io_wait(reader, IO::READABLE, 0)
      end
    end

    def test_io_wait_of_a_file_returns_at_once
      with_file("abc") { |file| assert_equal(IO::READABLE, fibers { scheduler.io_wait(file, IO::READABLE, nil) }) }
    end

    def test_block_returns_whether_it_was_unblocked
      order = []
      fibers do
        waiter = go { order << scheduler.block(:queue) << scheduler.block(:queue, 0.001) }
        scheduler.unblock(:queue, waiter)
      end
      assert_equal [true, false], order
    end

    def test_kernel_sleep_returns_whether_it_was_ended_before_its_time
      fibers do
        sleeper = go { assert_same true, scheduler.kernel_sleep(1000) }
        scheduler.unblock(:sleep, sleeper)
        assert_equal [false, false], [scheduler.kernel_sleep(0), scheduler.kernel_sleep(0.001)]
      end
    end

    def test_io_wait_refuses_what_is_no_time
      reader, @writer = IO.pipe
      fibers do
        assert_raises(ArgumentError) { reader.wait(IO::READABLE, -1) }
        assert_raises(RangeError) { reader.wait(IO::READABLE, Float::NAN) }
      end
    end

    def test_io_wait_tells_of_a_hang_up_who_waits_for_more_than_urgent_data
      reader, writer = IO.pipe
      writer.close
      fibers do
        assert_same false, scheduler.io_wait(reader, IO::PRIORITY, 0.001)
        assert_equal IO::READABLE, scheduler.io_wait(reader, IO::READABLE | IO::PRIORITY, 10)
      end
    end

    def test_fiber_interrupt_raises_in_the_fiber_that_waits
      reader, @writer = IO.pipe
      error = nil
      fibers do
        waiter = go { error = assert_raises(KeyError) { reader.read(1) } }
        assert_same true, scheduler.fiber_interrupt(waiter, KeyError.new("from outside"))
      end
      assert_equal "from outside", error.message
    end

    def test_fiber_interrupt_of_another_thread
      waiting = Queue.new
      fiber = nil
      Thread.new { waiting.pop.then { |loop| loop.fiber_interrupt(fiber, KeyError.new("from outside")) } }
      fibers do
        fiber = go { assert_raises(KeyError) { sleep } }
        waiting << scheduler
      end
    end

    def test_fiber_interrupt_of_a_fiber_that_does_not_wait_is_false
      fibers { assert_same false, scheduler.fiber_interrupt(Fiber.current, KeyError.new) }
    end

    def test_io_close_closes_the_descriptor_and_ends_the_wait_for_it
      reader, writer = IO.pipe
      reader.autoclose = false
      fibers do
        go { assert_raises(IOError) { reader.wait_readable } }
        assert_same true, scheduler.io_close(reader.fileno)
      end
      assert_raises(Errno::EPIPE) { writer.write("x") }
    end

    def test_address_resolve_returns_addresses_or_nil
      fibers do
        assert_includes scheduler.address_resolve("localhost"), "127.0.0.1"
        assert_nil scheduler.address_resolve("no.such.name.invalid")
      end
    end

    def test_timeout_after_yields_the_seconds_and_returns_the_block_s_value
      assert_equal([5, :value], fibers { scheduler.timeout_after(5, KeyError, "late") { |seconds| [seconds, :value] } })
      error = fibers { assert_raises(KeyError) { scheduler.timeout_after(0.001, KeyError, "late") { sleep } } }
      assert_equal "late", error.message
    end

    def test_a_blocking_operation_runs_in_another_thread_while_others_run
      skip_without_blocking_operations
      gate = Queue.new
      fibers do
        go { gate << :open }
        scheduler.blocking_operation_wait(-> { gate.pop })
        assert_raises(KeyError) { scheduler.blocking_operation_wait(-> { raise KeyError }) }
      end
    end

    def test_an_interrupted_fiber_waits_for_its_blocking_operation
      skip_without_blocking_operations
      order = []
      started = Queue.new
      operation = lambda do
        started << true
        Queue.new.pop
      ensure
        order << :operation
      end
      fibers do
        waiter = go { assert_raises(KeyError) { scheduler.blocking_operation_wait(operation) } && order << :fiber }
        started.pop
        scheduler.fiber_interrupt(waiter, KeyError.new)
      end
      assert_equal %i[operation fiber], order
    end

    def test_blocking_operations_share_a_thread_if_they_can
      skip_without_blocking_operations
      threads = []
      fibers do
        5.times { scheduler.blocking_operation_wait(-> { threads << Thread.current }) }
        assert_equal 1, threads.uniq.size
        gate = Queue.new
        6.times { go { scheduler.blocking_operation_wait(-> { threads << Thread.current && gate.pop }) } }
        give_way_until { gate.num_waiting == 6 }
        6.times { gate << true }
      end
      assert_equal 6, threads.uniq.size
      give_way_until { threads.uniq.count(&:alive?) <= Carat::Scheduler.const_get(:ThreadPool)::IDLE_LIMIT }
    end

    def test_a_forked_process_has_threads_of_its_own_for_blocking_operations
      skip_without_blocking_operations
      fibers do
        scheduler.blocking_operation_wait(-> {})
        pid = fork_with_scheduler do
          scheduler.blocking_operation_wait(-> {})
          exit!(true)
        end
        assert_predicate Process.wait2(pid)[1], :success?
      end
    end

    def test_fiber_returns_the_fiber_and_yield_lets_the_others_run
      order = []
      fibers do
        fiber = scheduler.fiber do
          order << :first
          scheduler.yield
          order << :last
        end
        order << fiber.class
      end
      assert_equal [:first, Fiber, :last], order
    end

    private

    def skip_without_blocking_operations
      skip "the hook came with Ruby 3.4, what it takes with 3.2" if RUBY_VERSION < "3.2"
    end
  end
end
