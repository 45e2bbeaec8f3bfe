# frozen_string_literal: true

require "test_helper"
require "timeout"

module Scheduler
  # How fibers and their scheduler begin and end.
  class LifeTest < Support::SchedulerTest
    also_under_stress

    def test_run_returns_the_value_of_its_block_when_all_fibers_have_ended
      ended = false
      value = fibers do
        go { sleep(0.001) && ended = true }
        :value
      end
      assert_equal [:value, true], [value, ended]
    end

    def test_schedule_runs_the_block_at_once_up_to_its_first_wait
      order = []
      fibers do
        go { order << 1 && sleep(0) && order << 3 }
        order << 2
      end
      assert_equal [1, 2, 3], order
    end

    def test_a_scheduler_is_set_in_any_thread
      order = in_thread do
        Fiber.set_scheduler(Carat::Scheduler.new)
        order = []
        Fiber.schedule { order << :first && sleep(0.001) && order << :last }
        Fiber.set_scheduler(nil)
        order
      end
      assert_equal %i[first last], order
    end

    def test_fibers_end_before_their_thread_does
      order = []
      in_thread do
        Fiber.set_scheduler(Carat::Scheduler.new)
        Fiber.schedule { sleep(0.001) && order << :ended }
      end
      assert_equal [:ended], order
    end

    def test_a_fiber_that_is_not_scheduled_may_wait_too
      value = in_thread do
        Fiber.set_scheduler(Carat::Scheduler.new)
        Fiber.new { sleep(0.001) && Fiber.yield(sleep(0) && :yielded) }.resume
      end
      assert_equal :yielded, value
    end

    def test_exit_in_a_fiber_ends_the_others
      cleaned = false
      assert_raises(SystemExit) do
        fibers do
          go { hold { cleaned = true } }
          exit
        end
      end
      assert cleaned
    end

    def test_an_error_raised_into_a_waiting_fiber
      order = []
      fibers do
        waiter = go { order << assert_raises(KeyError) { sleep }.message }
        waiter.raise(KeyError, "from outside")
        order << :raiser
      end
      assert_equal ["from outside", :raiser], order
    end

    def test_a_killed_fiber_runs_its_ensure_blocks
      skip "Fiber#kill came with Ruby 3.3" if RUBY_VERSION < "3.3"
      order = []
      fibers do
        waiter = go { hold { order << :cleaned } }
        waiter.kill
        order << :killer
      end
      assert_equal %i[cleaned killer], order
    end

    def test_an_exception_raised_into_the_thread_reaches_the_loop
      cleaned = []
      thread = looping { cleaned << true }
      thread.raise(KeyError)
      assert_raises(KeyError) { in_thread { thread.value } }
      assert_equal [true], cleaned
    end

    def test_a_killed_thread_runs_the_ensure_blocks_of_its_fibers
      cleaned = []
      thread = looping { cleaned << true }
      thread.kill
      in_thread { thread.join }
      assert_equal [true], cleaned
    end

    def test_a_fiber_that_is_ended_writes_files
      Dir.mktmpdir do |directory|
        path = File.join(directory, "cleaned")
        thread = looping { File.write(path, "yes") }
        thread.kill
        in_thread { thread.join }
        assert_equal "yes", File.read(path)
      end
    end

    def test_an_interrupt_ends_the_program_by_way_of_the_ensure_blocks
      script = <<~RUBY
        require "carat"
        Carat.run do
          Fiber.schedule { sleep } # ends with the others
          $stdout.syswrite("waiting\n") # Ruby 4.0 repeats what an interrupted `flush` has written
          sleep
        ensure
          puts "cleaned"
        end
      RUBY
      library = File.expand_path("../../../../../lib", __dir__)
      IO.popen([RbConfig.ruby, "-I#{library}", "-e", script, err: File::NULL]) do |ruby|
        assert_equal "waiting\n", ruby.gets
        Process.kill(:INT, ruby.pid)
        assert_equal "cleaned\n", ruby.read
      end
      assert_equal Signal.list["INT"], $?.termsig
    end

    def test_a_signal_handler_wakes_a_fiber
      queue = Queue.new
      before = trap(:USR2) { queue << :handled }
      assert_equal(:handled, fibers { Process.kill(:USR2, Process.pid) && queue.pop })
    ensure
      trap(:USR2, before)
    end

    def test_schedulers_are_not_nested
      fibers do
        assert_raises(Carat::SchedulerError) { Carat.run { nil } }
        assert_raises(Carat::SchedulerError) { Carat::Scheduler.new }
      end
      in_thread do
        Fiber.set_scheduler(Carat::Scheduler.new)
        assert_raises(Carat::SchedulerError) { Carat.run { nil } }
      end
    end

    def test_a_fiber_cannot_replace_the_scheduler_that_runs_it
      fibers { assert_raises(Carat::SchedulerError) { Fiber.set_scheduler(nil) } }
    end

    def test_a_scheduler_belongs_to_one_thread
      scheduler = Carat::Scheduler.new
      in_thread { Fiber.set_scheduler(scheduler) && scheduler.fiber { nil } }
      error = assert_raises(Carat::SchedulerError) { scheduler.fiber { nil } }
      assert_equal "this scheduler is closed", error.message
      other = Carat::Scheduler.new
      other.fiber { nil }
      assert_raises(Carat::SchedulerError) { in_thread { other.fiber { nil } } }
    end

    def test_hundreds_wait_while_objects_are_moved
      readers, writers = Array.new(is_a?(Stress) ? 20 : 300) { IO.pipe }.transpose
      read = []
      fibers do
        readers.each { |reader| go { read << Timeout.timeout(1000) { reader.read(1) } } }
        Support::Compaction.compact
        writers.each { |writer| writer.write("x") }
        Support::Compaction.compact
      end
      assert_equal ["x"] * readers.size, read
    end

    def test_waiting_fibers_are_not_collected
      queue = Queue.new
      values = []
      fibers do
        20.times { |number| go { values << (queue.pop + number.to_s) } }
        GC.start
        20.times { queue << +"fiber " }
      end
      assert_equal 20, values.uniq.size
    end

    private

    # Waits until it is interrupted, then calls the block.
    def hold
      sleep
    ensure
      yield
    end

    # A thread whose fiber waits in `hold`, so its loop sleeps in the kernel.
    def looping(&cleanup)
      ready = Queue.new
      thread = Thread.new do
        Carat.run do
          go { ready << Fiber.scheduler }
          hold(&cleanup)
        end
      end
      thread.report_on_exception = false
      ready.pop
      Thread.pass until thread.status == "sleep"
      thread
    end
  end
end
