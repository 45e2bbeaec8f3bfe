# frozen_string_literal: true

require "json"
require "test_helper"

# The subcommands that ask a running server.
class ControlCommandTest < Support::IntegrationTest
  include Support::ControlledServer

  PID = "run ->(_env) { [200, {}, [Process.pid.to_s]] }"

  def test_status_shows_the_server_and_its_workers
    server = start(PID, workers: 2)
    server.get
    out, err, status = carat(server, "status")

    assert_equal ["", 0], [err, status]
    assert_match(/\Acarat \S+, pid #{server.pid}, serving, up \d+ s$/, out)
    assert_match(/^listening on #{Regexp.escape(server.urls.first)}$/, out)
    assert_match(/^workers: 2 wanted of 2 to 2; generation 1$/, out)
    server.workers.each { |number, pid| assert_match(/^ +#{number} +1 +#{pid} +serving +\d+ s +0 +0 +\d+$/, out) }
    report = status(server)

    assert_equal [server.pid, 1], [report["pid"], report["processes"].sum { |worker| worker["requests"] }]
  end

  def test_status_in_json_has_the_machine_code_of_each_worker
    skip "this Ruby has no YJIT that tells bytes" if RUBY_VERSION < "3.3" || !RubyVM.const_defined?(:YJIT)

    server = start(PID, workers: 2, env: { "RUBYOPT" => "--yjit" })
    codes = eventually(message: "the figures of both") do
      status(server)["processes"].map { |worker| worker.dig("jit", "code") }.then { |found| found if found.all? }
    end
    assert_equal [true, true], codes.map(&:positive?), codes.inspect
  end

  def test_status_counts_connections_and_no_listener_that_waits_for_one
    server = start(PID)

    assert_equal 0, status(server)["connections"]
    clients = Array.new(2) { ask(server, "GET", "/").tap(&:read_response) }
    assert_equal 2, status(server)["connections"]
    clients.each(&:close)
    eventually(message: "no connection") { status(server)["connections"].zero? }
  end

  def test_stop_returns_when_the_server_has_ended
    server = start(Support::Gate::APP)
    client = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    stop = Thread.new { carat(server, "stop") }
    await_log(server, / stopping /)
    late = carat(server, "scale", "2")
    server.gate.open

    assert_equal 200, client.read_response.status
    assert_equal ["carat: the server with process id #{server.pid} has stopped\n", "", 0], stop.value
    assert_equal ["", "carat: the server is stopping\n", 1], late
    assert_equal 0, server.wait.exitstatus
  end

  def test_scale_changes_the_number_of_workers
    server = start(PID, workers: 1)

    assert_equal ["carat: workers 3, before 1\n", "", 0], carat(server, "scale", "3")
    eventually(message: "three workers") { server.workers.size == 3 }
    assert_equal ["carat: workers 1..2, before 3\n", "", 0], carat(server, "scale", "1..2")
    eventually(message: "two workers") { server.workers.size == 2 }
  end

  def test_requests_wait_while_the_server_is_paused
    server = start(PID, args: %w[--queue-limit 3 --queue-timeout 0.05])

    assert_equal ["carat: paused for 600.0 s with 0 requests running; up to 3 may wait\n", "", 0],
                 carat(server, "pause", "10m")
    clients = Array.new(3) { ask(server, "GET", "/") }
    eventually(message: "the requests") { status(server)["waiting"] == 3 }
    assert_equal "paused", status(server)["state"]
    assert_equal 503, server.get.status
    see_edge_go_round(server)
    assert_equal ["carat: resumed with 3 waiting requests\n", "", 0], carat(server, "resume")
    assert_equal [200] * 3, clients.map { |client| client.read_response.status }
    assert_equal ["", "carat: the server is not paused\n", 1], carat(server, "resume")
  end

  def test_pause_ends_by_itself_and_with_a_stop
    server = start(PID)
    carat(server, "pause", "50ms")

    assert_equal 200, server.get.status
    await_log(server, /resumed cause="the pause is over"/)
    carat(server, "pause", "10m")
    client = ask(server, "GET", "/")
    eventually(message: "the request") { status(server)["waiting"] == 1 }
    server.kill(:TERM)

    assert_equal 200, client.read_response.status
    assert_equal 0, server.wait.exitstatus
  end

  def test_killed_worker_is_replaced
    server = start(PID, workers: 2)
    pid = server.workers.fetch(2)

    assert_equal ["carat: killed worker 2 with process id #{pid}; it had 0 requests\n", "", 0],
                 carat(server, "kill-worker", "2")
    eventually(message: "two workers") { server.workers.values.then { |pids| pids.size == 2 && !pids.include?(pid) } }
    known = server.workers.keys.sort.join(", ")

    assert_equal ["", "carat: there is no worker 7, only: #{known}\n", 1], carat(server, "kill-worker", "7")
    refute_match(/worker died/, server.log)
  end

  def test_wrong_arguments_name_what_is_wrong
    server = start(PID)

    assert_equal ["", "kill-worker: needs NUMBER\n", 78], carat(server, "kill-worker")
    assert_equal ["", "pause: at most 600 s\n", 78], carat(server, "pause", "11m")
    assert_equal ["", "kill-wroker: no such subcommand or file; did you mean kill-worker?\n", 78],
                 carat(server, "kill-wroker", "1")
  end

  private

  def start(app, **options)
    options[:args] = [*options[:args], "--control-socket", "carat.sock"]
    server = serve(app, **options)
    await_workers(server, options[:workers] || 1)
    eventually(message: "the control socket") { File.socket?(File.join(server.directory.path, "carat.sock")) }
    server
  end
end
