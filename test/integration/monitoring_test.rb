# frozen_string_literal: true

require "test_helper"

# What monitoring agents count on, each shown by a small one of the same pattern.
class MonitoringTest < Support::IntegrationTest
  include Support::ControlledServer

  # A queue that is sent at the exit, and by a thread that the first use in a process starts. In a fork, it begins
  # anew: what it has inherited is the parent's to send.
  QUEUE = <<~'RUBY'
    module Agent
      def self.push(text)
        start unless @pid == Process.pid
        @queue << text
      end

      def self.start
        @pid = Process.pid
        @queue = Queue.new
        @thread = Thread.new { sleep }
      end

      def self.flush
        return unless @pid == Process.pid

        File.write("sent", "#{@queue.pop}\n", mode: "a") until @queue.empty?
      end
      at_exit { flush }
    end
  RUBY
  APP = <<~'RUBY'
    require "./lib/agent"
    run(lambda do |env|
      Agent.push(env["QUERY_STRING"])
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  SAFE = %(fork_safe_threads "lib/agent.rb"\n)
  ONCE = "refork after: [1, 1_000_000]\n"

  # An agent that is loaded at the first request, registers its block once, and is told of each fork.
  LAZY = <<~'RUBY'
    FORKS = []
    Process.singleton_class.prepend(Module.new do
      def _fork
        super.tap { |pid| FORKS << Process.pid if pid.zero? }
      end
    end)
    $registered = nil
    run(lambda do |_env|
      $registered ||= at_exit { File.write("sent", "#{Process.pid} #{FORKS.size}\n", mode: "a") } && true
      [200, {}, [FORKS.last.to_s]]
    end)
  RUBY

  def test_nothing_queued_a_moment_before_the_end_of_a_worker_is_lost_or_sent_twice
    server = observed(APP, workers: "1..2", config: "#{SAFE}worker_requests 7\nrefork \"off\"\n")
    [%w[scale 2], %w[restart], %w[scale 1]].each do |command|
      push(server, 3)
      assert_equal ["", 0], carat(server, *command).drop(1)
    end
    push(server, 30)
    server.stop

    assert_sent_once(server)
  end

  def test_a_worker_that_becomes_the_mold_sends_what_it_has_and_no_fork_does
    server = observed(APP, workers: 2, config: "#{SAFE}refork after: [5]\n")
    push(server, 1) until server.log.scan("mold ready").size >= 3
    server.stop

    assert_sent_once(server)
    refute_match(/did not become the mold|did not finish in time/, server.log)
  end

  def test_an_agent_that_is_loaded_late_works_in_the_forks_of_its_worker
    server = observed(LAZY, config: ONCE)
    first = server.get.body
    second = eventually { server.get.body.then { |pid| pid unless pid == first } }
    server.stop
    sent = server.directory.read("sent").lines.to_h { |line| line.split.map(&:to_i) }

    assert_equal [first, second].map(&:to_i).sort, sent.keys.sort
    assert_equal 2, sent.fetch(first.to_i), "a worker is forked twice"
  end

  def test_a_thread_of_the_application_is_named_unless_it_is_said_to_be_safe
    server = observed(APP, config: ONCE)
    push(server, 1)

    await_log(server, %r{did not become the mold .*cause="Ruby threads are left running: #<Thread:.*lib/agent\.rb:10})
    status = carat(server, "status").first
    assert_match(%r{^refork: not possible: Ruby threads are left running: .*lib/agent\.rb:10}, status)
  end

  private

  def observed(app, config:, workers: 1)
    files = { "lib/agent.rb" => QUEUE, "carat.rb" => config }
    server = serve(app, workers: workers, threads: 1, files: files, args: CONTROL_SOCKET)
    await_workers(server, 1)
    server
  end

  def assert_sent_once(server)
    assert_equal (1..@count).to_a, server.directory.read("sent").lines.map(&:to_i).sort
  end

  def push(server, count)
    count.times { server.get("/?#{@count = (@count || 0) + 1}") }
  end
end
