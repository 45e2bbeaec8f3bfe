# frozen_string_literal: true

require "minitest"
require_relative "process_tree"

module Support
  # Gives each test a deadline. A test that misses it fails with the backtraces of all threads and its processes.
  # The commands that it waits for are killed, since Open3 waits for their end in any case. A test that does not even
  # notice ends the process. Tests that take long are named while they run.
  #
  #   class SlowTest < Minitest::Test
  #     def watchdog_seconds = 900
  #   end
  class Watchdog
    SECONDS = 300
    NOTICE_SECONDS = 60
    # How long a test that has missed its deadline may take to notice.
    GRACE_SECONDS = 60
    TICK_SECONDS = 1

    # A test missed its deadline. No StandardError, because the code under test rescues those.
    class Expired < Exception # rubocop:disable Lint/InheritException
    end

    # Wraps every test, and each of its teardown methods.
    module Watched
      # How many seconds the test may take.
      def watchdog_seconds
        SECONDS
      end

      private

      def capture_exceptions
        super { Watchdog.shared.watch("#{self.class}##{name}", watchdog_seconds) { yield } }
      end
    end

    # What is under watch: since and until when, by the monotonic clock, and which processes others wait for.
    Watch = Struct.new(:name, :thread, :since, :deadline, :waiters, :notices, :expired)
    private_constant :Watch

    class << self
      # The watchdog of this process.
      def shared
        @shared ||= new
      end

      # Watches every test of this process.
      def install
        Minitest::Test.prepend(Watched)
      end
    end

    # @param out [IO] where long tests are named
    # @param exit [#call] ends the process with the given status, whatever its threads do
    def initialize(out: $stderr, exit: Process.method(:exit!))
      @out = out
      @exit = exit
      @mutex = Mutex.new
    end

    # Runs the block, and raises Expired in it after so many seconds.
    def watch(name, seconds)
      Thread.handle_interrupt(Expired => :never) do
        begin_watch(name, seconds)
        Thread.handle_interrupt(Expired => :immediate) { yield }
      ensure
        @mutex.synchronize { @watch = nil }
      end
    end

    private

    def begin_watch(name, seconds)
      @mutex.synchronize do
        @watch = Watch.new(name, Thread.current, now, now + seconds, waiters, 0, false)
        @thread = Thread.new { keep_watch } unless @thread&.alive?
      end
    end

    def keep_watch
      loop do
        sleep TICK_SECONDS
        check
      end
    end

    def check
      @mutex.synchronize do
        next unless (watch = @watch)

        notice(watch) if now > watch.since + ((watch.notices + 1) * NOTICE_SECONDS)
        expire(watch) if !watch.expired && now > watch.deadline
        give_up(watch) if now > watch.deadline + GRACE_SECONDS
      end
    end

    def notice(watch)
      watch.notices += 1
      @out.puts "", "#{watch.name} has been running for #{(now - watch.since).to_i} s"
    end

    def expire(watch)
      watch.expired = true
      seconds = (watch.deadline - watch.since).to_i
      watch.thread.raise(Expired, "not finished after #{seconds} s\n#{backtraces}\n#{processes}")
      (waiters - watch.waiters).each { |waiter| Process.kill(:KILL, waiter.pid) }
    rescue Errno::ESRCH
      nil # It has ended by itself.
    end

    def waiters
      Thread.list.grep(Process::Waiter)
    end

    def processes
      ProcessTree.descendants(Process.pid).map { |pid| "#{pid} #{ProcessTree.title(pid)}" }.join("\n")
    end

    def give_up(watch)
      @out.puts "", "#{watch.name} missed its deadline and cannot be interrupted", backtraces
      @exit.call(1)
    end

    def backtraces
      (Thread.list - [Thread.current]).map do |thread|
        [thread.inspect, *Minitest.filter_backtrace(thread.backtrace)].join("\n  ")
      end.join("\n")
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
