# frozen_string_literal: true

require "test_helper"
require "logger" # concurrent-ruby 1.3.4 and older need it
require "concurrent"
require "carat"

module Carat
  class ForkSafetyTest < Minitest::Test
    def setup
      @others = Thread.list
      @gate = Queue.new
    end

    def teardown
      @gate.close
      (Thread.list - @others).each(&:join)
    end

    def test_running_threads_are_named_with_their_place
      start.name = "refresh"
      assert_match(/Ruby threads are left running: #<Thread:\S+refresh \S+_test\.rb:\d+ sleep\S*> at \S+/, remark)
    end

    def test_marked_thread_is_ignored
      %I[fork_safe \0__detached_thread__].each { |mark| start.thread_variable_set(mark, true) }
      assert_nil remark
    end

    def test_threads_get_time_to_end_by_themselves
      start
      Thread.new { @gate.close }
      assert_nil remark(within: 60)
    end

    def test_exception_of_a_thread_does_not_spread
      waiting = Thread.current
      Thread.new do
        Thread.current.report_on_exception = false
        Thread.pass until waiting.stop?
        raise Exception, "odd" # rubocop:disable Lint/RaiseException
      end
      assert_nil remark(within: 60)
    end

    def test_number_of_named_threads_is_limited
      8.times { start }
      assert_match(/; and 3 more\z/, remark)
    end

    def test_declaration_is_kept
      Carat.not_fork_safe!("a library")
      assert_equal "a library", Warmup::ForkSafety.objection
    ensure
      Warmup::ForkSafety.objection = nil
    end

    def test_a_worker_that_serves_names_only_threads_that_last
      own = start
      assert_nil obstacle(own: [own])
      other = start
      assert_match(/Ruby threads are left running: #<Thread:[^;]*\z/, obstacle(own: [own]))
      assert_nil obstacle(own: [own, other])
    end

    def test_a_thread_of_a_request_is_no_obstacle
      start
      Thread.new { @gate.close }
      assert_nil obstacle(own: [], within: 60)
    end

    def test_threads_of_a_pool_are_no_obstacle
      pool = Concurrent::FixedThreadPool.new(1)
      pool.post { @gate.pop }
      assert_nil obstacle(own: [])
    ensure
      pool.kill
    end

    private

    def start
      Thread.new { @gate.pop }.tap { |thread| Thread.pass until thread.stop? }
    end

    def remark(within: 0.01)
      spare_others
      Warmup::ForkSafety.remark(within: within)
    end

    def obstacle(own:, within: 0.01)
      spare_others
      Warmup::ForkSafety.obstacle(own: own, within: within)
    end

    # Minitest has threads, too.
    def spare_others
      @others.drop(1).each { |thread| thread.thread_variable_set(:fork_safe, true) }
    end
  end
end
