# frozen_string_literal: true

require "test_helper"

class ProcessDeathTest < Support::IntegrationTest
  GATED = Support::Gate::APP

  def test_worker_that_is_killed_is_replaced_at_once
    server = serve(GATED, workers: 2, threads: 1)
    await_workers(server, 2)
    first, second = server.workers.values_at(1, 2)
    Process.kill(:KILL, first)
    await_workers(server, 3)

    await_log(server, / error worker died worker=1 gen=1 pid=#{first} cause="signal 9"$/)
    number, pid = server.workers.find { |_, worker| worker != second }
    await_log(server, / info worker ready worker=#{number} gen=1 pid=#{pid} boot_ms=\d+$/)
    assert_equal [pid, second].sort, server.workers.values.sort
  end

  def test_posted_request_that_ran_gets_502_and_a_line_in_the_log
    server = serve(GATED, threads: 1)
    client = ask(server, "POST", "/gate", body: "x")
    kill_worker(server)

    assert_equal 502, client.read_response.status
    await_log(server, %r{ error request lost with its worker worker=1 request="POST /gate"$})
    assert_equal 1, server.gate.arrivals.size
  end

  def test_get_and_query_are_asked_once_more
    { "GET" => nil, "QUERY" => "x" }.each do |verb, body|
      server = serve(GATED, threads: 1)
      client = ask(server, verb, "/gate", body: body)
      kill_worker(server)
      await_arrivals(server, 2)
      server.gate.open

      assert_equal server.workers.values, [client.read_response.body.to_i]
    end
  end

  def test_worker_that_leaves_a_process_behind_is_noticed_nevertheless
    server = serve("child = lambda { fork { sleep } }\n#{GATED.sub("lambda do |env|", "lambda do |env| child.call")}")
    client = ask(server, "POST", "/gate", body: "x")
    kill_worker(server)

    assert_equal 502, client.read_response.status
    assert_equal 200, server.get("/").status
  end

  def test_edge_reaps_what_a_worker_leaves_behind
    server = serve("run ->(_env) { fork { sleep } && Process.kill(:KILL, Process.pid) }", threads: 1)
    server.request("POST", "/", body: "x")
    await_workers(server, 2)
    left = (server.children - [server.mold, *server.workers.values.last]).first
    Process.kill(:KILL, left)

    eventually(message: "no zombie") { !File.exist?("/proc/#{left}") }
  end

  def test_nothing_is_kept_of_workers_that_are_gone
    server = serve(GATED, threads: 2)
    kill_and_await_replacement(server, 1)
    before = descriptors(server)
    (2..6).each { |number| kill_and_await_replacement(server, number) }

    assert_equal before, descriptors(server)
  end

  def test_thread_that_the_application_ends_takes_its_worker_along_but_no_other_request
    app = GATED.sub("lambda do |env|", "lambda do |env| Thread.exit if env[\"PATH_INFO\"] == \"/end\"")
    server = serve(app, threads: 2)
    client = ask(server, "POST", "/gate", body: "x")
    old = await_arrivals(server, 1).first.pid
    assert_equal 500, server.get("/end").status
    await_workers(server, 2)
    refute_equal old.to_s, server.get("/").body
    server.gate.open

    assert_equal [200, old.to_s], client.read_response.then { |response| [response.status, response.body] }
    await_log(server, / info worker ended worker=1 gen=1 pid=#{old} /)
  end

  def test_answer_that_had_begun_ends_short
    server = serve(<<~'RUBY')
      run ->(_env) { [200, {}, Enumerator.new { |out| out << "first"; Process.kill(:KILL, Process.pid) }] }
    RUBY
    client = ask(server, "GET", "/")

    refute_includes client.read_to_end, "\r\n0\r\n\r\n"
  end

  def test_worker_that_rests_for_a_while_loses_nothing
    server = serve(GATED, threads: 1)
    Process.kill(:STOP, server.workers.fetch(1))
    client = ask(server, "GET", "/")
    see_edge_go_round(server)
    Process.kill(:CONT, server.workers.fetch(1))

    assert_equal 200, client.read_response.status
  end

  private

  def kill_worker(server)
    Process.kill(:KILL, await_arrivals(server, 1).last.pid)
  end

  def kill_and_await_replacement(server, count)
    Process.kill(:KILL, server.workers.values.last)
    await_workers(server, count + 1)
    eventually { server.workers.size == 1 }
  end

  # How many descriptors the edge and the mold have open, once both are at rest.
  def descriptors(server)
    2.times { server.get("/") }
    eventually do
      counts = [server.pid, server.mold].map { |pid| Dir.children("/proc/#{pid}/fd").size }
      counts if counts == @counts
    ensure
      @counts = counts
    end
  end
end
