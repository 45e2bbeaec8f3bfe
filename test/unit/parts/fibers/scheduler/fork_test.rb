# frozen_string_literal: true

require "test_helper"

module Scheduler
  # A process that a fiber forks.
  class ForkTest < Support::SchedulerTest
    also_under_stress

    def test_a_forked_process_starts_clean
      status = fibers do
        reader, writer = IO.pipe
        go { assert_equal "parent", reader.read(6) }
        pid = fork_with_scheduler do
          queue = Queue.new
          go { queue << :woken if sleep(0.001) }
          exit!(queue.pop == :woken && Fiber.scheduler.waiting.zero? ? 0 : 1)
        end
        Process.wait(pid)
        writer.write("parent")
        $?
      end
      assert_predicate status, :success?
    end

    def test_a_forked_process_ends_without_the_parent_s_fibers
      status = fibers do
        reader, writer = IO.pipe
        go { reader.read(1) }
        pid = fork_with_scheduler { go { sleep(0.001) } }
        Process.wait(pid)
        writer.write("x")
        $?
      end
      assert_predicate status, :success?
    end

    def test_fibers_of_a_forked_process_end_before_it_does
      output = fibers do
        reader, writer = IO.pipe
        pid = fork_with_scheduler { go { sleep(0.001) && writer.write("done") } }
        writer.close
        Process.wait(pid)
        reader.read
      end
      assert_equal "done", output
    end

    def test_a_forked_process_may_wait
      status = fibers do
        go { sleep }
        pid = fork { exit!(sleep(0.001) && Thread.new { :done }.value == :done) }
        Process.wait2(pid)[1].tap { Fiber.scheduler.cancel }
      end
      assert_predicate status, :success?
    end

    def test_a_forked_process_has_schedulers_that_their_fibers_cannot_replace
      pid = fork do
        Carat.run { Fiber.set_scheduler(nil) }
        exit!(1)
      rescue Carat::SchedulerError
        exit!(0)
      end
      assert_predicate Process.wait2(pid)[1], :success?
    end
  end
end
