# frozen_string_literal: true

require "json"
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

  # As an agent with ActiveSupport's ForkTracker: a callback in each fork drops what is inherited, and starts the thread
  # that sends. At the exit, the thread is waited for.
  TRACKED = <<~'RUBY'
    module ForkTracker
      CALLBACKS = []

      def _fork
        super.tap { |pid| CALLBACKS.each(&:call) if pid.zero? }
      end
    end
    Process.singleton_class.prepend(ForkTracker)

    module Agent
      def self.push(text)
        @queue << text
      end

      def self.start
        queue = @queue = Queue.new
        @thread = Thread.new do
          while (text = queue.pop)
            File.write("sent", "#{text}\n", mode: "a")
          end
        end
      end

      start
      ForkTracker::CALLBACKS << method(:start)
      at_exit { (@queue << nil) && @thread.join }
    end
  RUBY

  # An agent that looks for the constants of servers when it is loaded, and knows none that is there, as Scout does not.
  UNSERVED = <<~'RUBY'
    module ScoutApm
      SERVER = %i[Puma PhusionPassenger Unicorn].find { |name| Object.const_defined?(name) }

      class Agent
        def self.instance = @instance ||= new
        def start = File.write("started", "#{Process.pid} #{SERVER.inspect}\n", mode: "a")
        def context = nil
        def stop_background_worker = nil
      end

      module ErrorService
        Notifier = Struct.new(:context) { def ship = nil }
      end
    end
    run ->(_env) { [200, {}, [Process.pid.to_s]] }
  RUBY

  # What agents subtract from the time at which the application begins.
  QUEUED = <<~'RUBY'
    require "json"
    run ->(env) { [200, {}, [JSON.generate(env.values_at("HTTP_X_REQUEST_START", "puma.request_body_wait"))]] }
  RUBY
  UPLOAD_SECONDS = 0.2

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
    assert_sent_once_in_each_generation(server)
  end

  def test_a_thread_that_a_hook_of_fork_starts_again_sends_all_once_in_each_generation
    server = observed(APP, agent: TRACKED, workers: 2, config: "#{SAFE}refork after: [5]\n")
    assert_sent_once_in_each_generation(server)
  end

  def test_an_agent_that_finds_no_server_at_its_boot_starts_once_in_each_worker_and_not_in_the_mold
    server = observed(UNSERVED, workers: 2, config: ONCE)
    eventually { server.get && server.log.match?(/worker ready worker=\d+ gen=2/) }
    server.stop
    started = server.directory.read("started").lines(chomp: true)

    assert_equal started.uniq, started
    assert_empty server.log.scan(/worker ready worker=\d+ gen=\d+ pid=(\d+)/).map { |(pid)| "#{pid} nil" } - started
    refute_includes started, "#{server.log[/mold ready gen=1 pid=(\d+)/, 1]} nil"
    refute_match(/cannot (start|flush)/, server.log)
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

  def test_the_time_of_an_upload_is_no_time_in_the_queue
    server = serve(QUEUED, workers: 1, threads: 1, args: %w[--trusted-proxies 127.0.0.1])
    (start, wait), last = upload(server)
    assert_operator Float(start.delete_prefix("t=")), :>=, last
    assert_nil wait

    (start, wait), = upload(server, "X-Request-Start" => "t=1.5")
    assert_equal "t=1.5", start
    assert_operator wait.to_i, :>=, UPLOAD_SECONDS * 1000
  end

  private

  # Uploads four bytes, of which the last two come later. Returns what the application was told, and when these came.
  def upload(server, fields = {})
    client = ask(server, "POST", "/", fields: { "Content-Length" => 4, **fields }, body: "ab")
    see_edge_go_round(server)
    arrival = Support::Eventually.now + UPLOAD_SECONDS
    eventually { Support::Eventually.now > arrival }
    last = Time.now.to_f.floor(3)
    [JSON.parse(client.write("cd").read_response.body), last]
  end

  def observed(app, config:, agent: QUEUE, workers: 1)
    files = { "lib/agent.rb" => agent, "carat.rb" => config }
    server = serve(app, workers: workers, threads: 1, files: files, args: CONTROL_SOCKET)
    await_workers(server, 1)
    server
  end

  # Serves until the third mold is ready, which was a worker of the second.
  def assert_sent_once_in_each_generation(server)
    push(server, 1) until server.log.scan("mold ready").size >= 3
    server.stop

    assert_sent_once(server)
    refute_match(/did not become the mold|did not finish in time/, server.log)
  end

  def assert_sent_once(server)
    assert_equal (1..@count).to_a, server.directory.read("sent").lines.map(&:to_i).sort
  end

  def push(server, count)
    count.times { server.get("/?#{@count = (@count || 0) + 1}") }
  end
end
