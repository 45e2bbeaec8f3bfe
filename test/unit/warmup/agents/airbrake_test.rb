# frozen_string_literal: true

require "monitor"
require "stringio"
require "test_helper"
require "carat/log/process_log"
require "carat/warmup/agents"

module Carat
  # With an Airbrake that has the state of airbrake-ruby 6.2.2, and writes down what it sends.
  class AirbrakeTest < Minitest::Test
    LIBRARY = <<~RUBY
      module Airbrake
        SENT = []
        Promise = Class.new

        # Its thread sends what waits, and ends when the pool is closed.
        class ThreadPool
          def initialize
            @queue = Queue.new
            @thread = Thread.new do
              while (report = @queue.pop)
                SENT << report
              end
            end
          end

          def <<(report) = @queue << report
          def closed? = @queue.closed?
          def close = @queue.close && @thread.join
        end

        class Backlog
          attr_reader :queue, :seen, :schedule_flush

          def initialize
            @queue = Queue.new.push("refused")
            @seen = ["refused"]
            @schedule_flush = Thread.new { sleep }
          end
        end

        class SyncSender
          attr_reader :backlog

          def initialize = @backlog = Backlog.new
          def send(data, _promise) = SENT << data
        end

        class AsyncSender
          def initialize = @sync_sender = SyncSender.new
          def thread_pool = @thread_pool ||= ThreadPool.new
          def send(report) = thread_pool << report
        end

        class Notifier
          attr_reader :sync_sender, :async_sender

          def initialize
            @sync_sender = SyncSender.new
            @async_sender = AsyncSender.new
          end
        end

        class PerformanceNotifier < Notifier
          attr_reader :payload, :schedule_flush

          def initialize
            super
            @payload = { "GET /" => 1 }.extend(MonitorMixin)
            @schedule_flush = Thread.new { sleep }
          end

          private

          def send(sender, payload, promise) = sender.send(payload.to_a, promise)
        end

        class RemoteSettings
          attr_reader :polls

          def initialize = @poll = @polls = 1
          def poll = @poll ||= @polls += 1
        end

        class << self
          attr_reader :notice_notifier, :performance_notifier, :remote_settings
        end
        @notice_notifier = Notifier.new
        @performance_notifier = PerformanceNotifier.new
        @remote_settings = RemoteSettings.new
      end
    RUBY

    def setup
      @others = Thread.list
      Object.class_eval(LIBRARY)
      @errors = ::Airbrake.notice_notifier
      @statistics = ::Airbrake.performance_notifier
    end

    def teardown
      (Thread.list - @others).each { |thread| thread.kill.join }
      Object.send(:remove_const, :Airbrake)
    end

    def test_before_forks_all_is_sent_and_new_threads_send_what_follows
      2.times { |number| @errors.async_sender.send("error #{number}") }
      thread = @statistics.schedule_flush
      assert_empty logged(:flush)

      assert_equal [[["GET /", 1]], "error 0", "error 1"], ::Airbrake::SENT.sort_by(&:to_s)
      refute_predicate thread.join, :alive?
      assert_nil @statistics.schedule_flush
      assert_empty @statistics.payload
      @errors.async_sender.send("error 2")
      assert_empty logged(:flush)
      assert_equal "error 2", ::Airbrake::SENT.last
    end

    def test_a_fork_sends_nothing_of_its_parent_and_starts_threads_of_its_own
      pool = @errors.async_sender.thread_pool
      assert_empty logged(:start)

      refute_same pool, @errors.async_sender.thread_pool
      assert_nil @statistics.schedule_flush
      assert_empty @statistics.payload
      backlogs.each { |it| assert_equal [true, [], nil], [it.queue.empty?, it.seen, it.schedule_flush] }
      assert_equal 2, ::Airbrake.remote_settings.polls
      assert_empty ::Airbrake::SENT
    end

    def test_all_is_sent_at_the_exit_also_after_a_block_that_has_closed_airbrake
      @errors.async_sender.send("error")
      assert_empty logged(:finish)
      assert_empty logged(:finish)

      assert_equal [[["GET /", 1]], "error"], ::Airbrake::SENT.sort_by(&:to_s)
      assert_predicate @errors.async_sender.thread_pool, :closed?
      refute_predicate backlogs.first.queue, :empty?
    end

    def test_an_airbrake_that_has_sent_nothing_yet_stays_as_it_is
      %i[@notice_notifier @performance_notifier @remote_settings].each do |name|
        ::Airbrake.instance_variable_set(name, nil)
      end

      assert_empty %i[start flush finish].map { |task| logged(task) }.join
    end

    private

    def backlogs
      senders = [@errors, @statistics].flat_map do |notifier|
        [notifier.sync_sender, notifier.async_sender.instance_variable_get(:@sync_sender)]
      end
      senders.map(&:backlog)
    end

    def logged(task)
      Warmup::Agents.public_send(task, log: Log::ProcessLog.new(text = StringIO.new))
      text.string
    end
  end
end
