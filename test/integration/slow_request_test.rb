# frozen_string_literal: true

require "json"
require "test_helper"

# `slow_request` and `carat stacks`: where requests stand, without a request that notices.
class SlowRequestTest < Support::IntegrationTest
  include Support::ControlledServer

  # Line 3 is where a request for /lock waits, line 4 where one for /sleep does.
  APP = <<~RUBY
    LOCK = Mutex.new.lock
    ACTIONS = {
      "/lock" => -> { LOCK.synchronize { } },
      "/sleep" => -> { sleep 0.005 until File.exist?("gate") },
      "/spin" => -> { nil until (1..50_000).sum { |number| number } && File.exist?("gate") },
      "/fork" => -> { Process.wait(fork { exit! }) until File.exist?("gate") },
      "/hold" => -> { #{Support::Gate::GVL_HOLDER} }
    }
    run(lambda do |env|
      File.write("arrivals", "GET \#{env["PATH_INFO"]} \#{Process.pid}\\n", mode: "a")
      ACTIONS.fetch(env["PATH_INFO"], -> { }).call
      [200, {}, ["served"]]
    end)
  RUBY

  def test_log_says_where_a_slow_request_stands_and_how_long_it_took
    server = start(args: %w[--slow-request 0.2s])
    assert_equal "served", server.get("/").body
    client = ask(server, "GET", "/sleep?a=b")
    request = %r{lane=1\.\d request="GET /sleep\?a=b"}
    line = await_log(server, / warn slow request #{request} running_for=(\S+) waits_for=.* stack=\n/)
    server.gate.open

    assert_operator line[1].to_f, :>=, 0.2
    assert_match(/\A(\s+\S*config\.ru:\d+:in .*\n)+/, line.post_match)
    assert_equal "served", client.read_response.body
    await_log(server, / warn response to a slow request #{request} queued_for=\S+ ran_for=\S+$/)
    assert_equal 1, server.log.scan("warn slow request lane").size
  end

  def test_the_reason_is_a_lock_a_turn_of_the_scheduler_or_nothing
    [{ threads: 4 }, { args: %w[--fibers 4] }].each do |options|
      server = start(**options)
      %w[/lock /sleep].each { |path| ask(server, "GET", path) }
      await_arrivals(server, 2)
      stacks = stacks(server)

      assert_match(/lock/, stacks.fetch("GET /lock").fetch("waits_for"))
      assert_match(/config\.ru:3:/, stacks.fetch("GET /lock").fetch("stack"))
      assert_match(/a time|runs|GVL/, stacks.fetch("GET /sleep").fetch("waits_for"))
      assert_match(/config\.ru:4:/, stacks.fetch("GET /sleep").fetch("stack"))
      server.gate.open
    end
  end

  def test_command_prints_a_paragraph_for_each_request_and_the_oldest_first
    server = start(threads: 3)
    %w[/lock /spin].each_with_index do |path, index|
      ask(server, "GET", path)
      await_arrivals(server, index + 1)
    end
    out, err, status = carat(server, "stacks")
    server.gate.open

    assert_equal ["", 0], [err, status]
    assert_match(/\Aworker 1, lane \d: GET \/lock runs for \d\.\d+ s\n  waits for: a lock.*\n  .*config\.ru:3:in /, out)
    assert_match(/^worker 1, lane \d: GET \/spin runs for .*\n  waits for: .*\n  .*config\.ru:5:in /, out)
    assert_match(/^2 requests running\n\z/, out)
    refute_match(%r{lib/carat}, out)
  end

  def test_a_server_without_a_running_request_says_so
    assert_equal ["0 requests running\n", "", 0], carat(start, "stacks")
  end

  def test_a_worker_whose_thread_keeps_rubys_lock_is_not_waited_for
    server = start(args: %w[--slow-request 0.1s])
    ask(server, "POST", "/hold", body: "x")
    await_log(server, %r{slow request .*POST /hold.* waits_for="unknown: the worker does not reply})

    2.times { assert_match(/does not reply/, stacks(server).fetch("POST /hold").fetch("waits_for")) }
    carat(server, "kill-worker", "1")
    await_log(server, /worker ended worker=1/)
    assert_equal "served", server.get("/").body
  end

  def test_stacks_in_the_middle_of_forks_harm_nobody
    server = start(args: %w[--shutdown-timeout 60s])
    client = ask(server, "GET", "/fork")
    await_arrivals(server, 1)
    restart = Thread.new { carat(server, "restart").last }
    asked = Array.new(4) { carat(server, "stacks") }
    server.gate.open

    assert_equal [0] * 5, [*asked.map(&:last), restart.value]
    assert_match(%r{GET /fork runs for}, asked.first.first)
    assert_equal "served", client.read_response.body
    assert_equal "served", server.get("/").body
  end

  def test_the_log_bounds_what_it_says_of_slow_requests
    server = start(args: %w[--slow-request 0.1s --fibers 40])
    Array.new(30) { ask(server, "GET", "/lock") }
    logged = -> { server.log.scan("warn slow request lane").size }
    eventually { logged.call + server.log.scan(/warn more slow requests requests=(\d+)$/).flatten.sum(&:to_i) == 30 }

    assert_operator logged.call, :<, 30
  end

  private

  def start(args: [], **options)
    config = "request_timeout \"off\"\nshutdown_timeout \"1s\"\n"
    server(app: APP, config:, workers: 1, args: [*CONTROL_SOCKET, *args], **options).start
  end

  def stacks(server)
    out, = carat(server, "stacks", "--json")
    JSON.parse(out).fetch("requests").to_h { |request| [request.fetch("request"), request] }
  end
end
