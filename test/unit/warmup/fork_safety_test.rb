# frozen_string_literal: true

require "test_helper"
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

    private

    def start
      Thread.new { @gate.pop }.tap { |thread| Thread.pass until thread.stop? }
    end

    # Minitest has threads, too.
    def remark(within: 0.01)
      @others.drop(1).each { |thread| thread.thread_variable_set(:fork_safe, true) }
      Warmup::ForkSafety.remark(within: within)
    end
  end
end
