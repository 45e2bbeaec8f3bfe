# frozen_string_literal: true

require "logger" # concurrent-ruby 1.3.4 and older need it
require "concurrent"
require "stringio"
require "test_helper"
require "carat/log/process_log"
require "carat/warmup/agents"
require "carat/warmup/fork_safety"
require "carat/warmup/pools/idle_pools"

module Carat
  # With a Bugsnag that has the state of version 6.27.1, and writes down what it sends.
  class BugsnagTest < Minitest::Test
    LIBRARY = <<~RUBY
      module Bugsnag
        SENT = []
        Timer = Struct.new(:running) { def shutdown = self.running = false }

        class SessionTracker
          attr_reader :session_counts, :delivery_thread, :started

          def initialize
            @session_counts = { "12:00" => 3 }
            @delivery_thread = Timer.new(true)
            @started = Process.pid
          end

          def send_sessions
            SENT << @session_counts.dup
            @session_counts.clear
          end
        end

        module Delivery
          module ThreadQueue
          end
        end

        class << self
          attr_reader :session_tracker
        end
        @session_tracker = SessionTracker.new
      end
    RUBY

    def setup
      Object.class_eval(LIBRARY)
      @tracker = ::Bugsnag.session_tracker
      @timer = @tracker.delivery_thread
    end

    def teardown
      Object.send(:remove_const, :Bugsnag)
    end

    def test_before_forks_the_timer_ends_and_what_waits_is_sent_once
      queue, thread = deliver
      queue << -> { sent << :error }
      assert_empty logged { |log| Warmup::Agents.flush(log:) }

      assert_equal [:error, { "12:00" => 3 }], sent.sort_by { |it| it.is_a?(Hash) ? 1 : 0 }
      assert_equal [false, nil, nil, true], [@timer.running, *timers, thread.alive?]
      assert_empty @tracker.session_counts
    ensure
      thread&.kill&.join
    end

    def test_the_timer_of_sessions_does_not_keep_the_process_from_becoming_a_mold
      others = Thread.list
      timer = Concurrent::TimerTask.execute(execution_interval: 10) { nil }
      @tracker.instance_variable_set(:@delivery_thread, timer)
      assert_nil Warmup::ForkSafety.obstacle(own: others, within: 0)
      assert_empty logged { |log| Warmup::Agents.flush(log:) }
      Warmup::IdlePools.stop(within: 60)

      assert_empty((Thread.list - others).reject { |thread| thread.join(60) })
    end

    def test_a_queue_that_only_the_parent_process_empties_is_not_waited_for
      ::Bugsnag::Delivery::ThreadQueue.instance_variable_set(:@started, Process.ppid)

      assert_empty logged { |log| Warmup::Agents.flush(log:) }
    end

    def test_a_fork_sends_no_session_of_its_parent_and_starts_a_timer_of_its_own
      assert_empty logged { |log| Warmup::Agents.start(log:) }

      assert_equal [true, nil, nil], [@timer.running, *timers]
      assert_empty @tracker.session_counts
      assert_empty sent
    end

    def test_sessions_are_sent_at_the_exit
      assert_empty(Array.new(2) { logged { |log| Warmup::Agents.finish(log:) } }.join)
      assert_equal [{ "12:00" => 3 }], sent
    end

    def test_without_a_session_nothing_happens
      ::Bugsnag.instance_variable_set(:@session_tracker, nil)
      text = %i[start flush finish].map { |task| logged { |log| Warmup::Agents.public_send(task, log:) } }

      assert_empty text.join
      assert_empty sent
    end

    private

    def sent = ::Bugsnag::SENT

    def timers = [@tracker.delivery_thread, @tracker.started]

    # The queue of errors, and the thread that sends them.
    def deliver
      queue = Queue.new
      delivery = ::Bugsnag::Delivery::ThreadQueue
      delivery.instance_variable_set(:@queue, queue)
      delivery.instance_variable_set(:@started, Process.pid)
      [queue, Thread.new { loop { queue.pop.call } }]
    end

    def logged
      yield Log::ProcessLog.new(text = StringIO.new)
      text.string
    end
  end
end
