# frozen_string_literal: true

require "logger" # concurrent-ruby 1.3.4 and older need it
require "minitest/autorun"
require "concurrent"
require "carat/warmup/pools/idle_pools"
require "support/eventually"

module Carat
  class IdlePoolsTest < Minitest::Test
    include Support::Eventually

    def setup
      @pool = Concurrent::ThreadPoolExecutor.new(min_threads: 0, max_threads: 3, idletime: 60)
    end

    def teardown
      @pool.kill
    end

    def test_threads_of_an_idle_pool_end_and_the_next_task_starts_one
      assert_equal 1, answer(1)
      thread = answer(Thread.current) { Thread.current }
      await_idleness
      Warmup::IdlePools.stop

      assert thread.join(60)
      eventually { @pool.length.zero? }
      assert_equal 2, answer(2)
    end

    def test_a_pool_with_a_minimum_starts_anew_too
      @pool.kill
      @pool = Concurrent::FixedThreadPool.new(2)
      2.times { answer(1) }
      await_idleness
      Warmup::IdlePools.stop

      eventually { @pool.length.zero? }
      assert_equal 3, answer(3)
    end

    def test_a_pool_that_works_is_left_alone
      gate = Queue.new
      result = Queue.new
      @pool.post { result << gate.pop }
      eventually { gate.num_waiting == 1 }
      Warmup::IdlePools.stop
      gate << :done

      assert_equal :done, result.pop
    end

    def test_the_threads_of_a_pool_are_known_whether_it_works_or_not
      gate = Queue.new
      idle = answer(Thread.current) { Thread.current }
      busy = Queue.new
      @pool.post { busy << Thread.current && gate.pop }

      assert_empty [idle, busy.pop] - Warmup::IdlePools.threads
    ensure
      gate.close
    end

    def test_the_next_run_of_a_timer_task_that_has_ended_keeps_no_thread
      run = Queue.new
      task = Concurrent::TimerTask.execute(execution_interval: 600, run_now: true) { run << true }
      run.pop
      thread = eventually { Warmup::IdlePools.threads.find { |it| it.backtrace&.join&.include?("process_tasks") } }
      task.shutdown
      Warmup::IdlePools.stop(within: Support::Eventually::DEADLINE_SECONDS)

      assert thread.join(60)
    end

    private

    # What a task of the pool returns.
    def answer(value)
      result = Queue.new
      @pool.post { result << (block_given? ? yield : value) }
      result.pop
    end

    def await_idleness
      eventually { @pool.instance_variable_get(:@ready).size == @pool.length }
    end
  end
end
