# frozen_string_literal: true

require "test_helper"

class ProcessStopTest < Support::IntegrationTest
  GATED = Support::Gate::APP
  # Streams "first", and the rest when the gate is open.
  STREAM = <<~'RUBY'
    run(lambda do |_env|
      File.write("arrivals", "GET /gate #{Process.pid}\n", mode: "a")
      body = Enumerator.new do |out|
        out << "first"
        sleep 0.005 until File.exist?("gate")
        out << "last"
      end
      [200, { "content-type" => "text/plain" }, body]
    end)
  RUBY

  %i[TERM INT QUIT].each do |signal|
    define_method(:"test_sig#{signal.downcase}_lets_what_runs_and_what_waits_finish") do
      server = serve(GATED, threads: 1)
      clients = three_requests(server)
      server.kill(signal)
      refuse_newcomers(server)
      server.gate.open

      assert_finished(server, clients)
    end

    define_method(:"test_sig#{signal.downcase}_to_the_whole_process_group_is_no_different") do
      server = serve(GATED, threads: 1, spawn: { pgroup: true })
      clients = three_requests(server)
      Process.kill(signal, -server.pid)
      refuse_newcomers(server)
      server.gate.open

      assert_finished(server, clients)
    end
  end

  def test_requests_sent_before_the_signal_are_answered
    server = serve(GATED, threads: 1, spawn: { pgroup: true })
    known = Array.new(5) { server.connect.tap(&:get) }
    Process.kill(:STOP, server.pid)
    clients = Array.new(20) { ask(server, "GET", "/") } + known.each { |client| client.request("GET", "/") }
    server.kill(:TERM)
    Process.kill(:CONT, server.pid)

    assert_finished(server, clients)
  end

  def test_idle_server_stops_at_once
    server = serve(GATED, workers: 2)
    idle = server.connect
    idle.get

    assert_equal 0, server.stop.exitstatus
    assert_predicate idle, :closed_by_peer?
    await_emptiness(server)
  end

  def test_answer_that_is_being_streamed_is_sent_to_its_end
    server = serve(STREAM, threads: 1)
    client = ask(server, "GET", "/")
    client.read_exactly("HTTP/1.1 200".bytesize)
    server.kill(:TERM)
    refuse_newcomers(server)
    server.gate.open

    assert_includes client.read_to_end, "\r\n5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n"
    assert_equal 0, server.wait.exitstatus
  end

  def test_request_whose_body_is_still_arriving_is_answered
    server = serve('run ->(env) { [200, {}, [env["rack.input"].read]] }')
    client = ask(server, "POST", "/", fields: { "Expect" => "100-continue", "Content-Length" => 6 })
    assert_equal 100, client.read_response.status
    client.write("one")
    server.kill(:TERM)
    refuse_newcomers(server)
    client.write("two")

    assert_equal "onetwo", client.read_response.body
    assert_equal 0, server.wait.exitstatus
  end

  def test_last_answer_of_a_connection_says_that_it_closes
    server = serve(GATED)
    client = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    server.kill(:TERM)
    refuse_newcomers(server)
    server.gate.open

    assert_equal "close", client.read_response["connection"]
    assert_predicate client, :closed_by_peer?
  end

  def test_second_signal_ends_the_server_at_once
    server = serve(GATED)
    client = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    eventually(message: "the end") { server.kill(:TERM) if server.running?; !server.running? }

    assert_equal 1, server.status.exitstatus
    assert_equal "", client.read_to_end
    await_emptiness(server)
  end

  def test_requests_that_do_not_end_within_shutdown_timeout_are_cut_off
    server = serve(GATED, threads: 1, args: %w[--shutdown-timeout 500ms])
    clients = three_requests(server)
    status = server.stop

    assert_equal 0, status.exitstatus
    responses = clients.map(&:read_response)
    # Only the first has begun: who repeats it may do it twice.
    assert_equal [[504, nil], [503, "1"], [503, "1"]], (responses.map { |response|
 [response.status, response["retry-after"]] })
    await_log(server, / warn .*shutdown_timeout/)
    await_emptiness(server)
  end

  def test_processes_that_do_not_let_go_are_killed_at_shutdown_timeout
    server = serve('trap("TERM") { nil }; at_exit { sleep }; run ->(_env) { [200, {}, []] }',
                   args: %w[--shutdown-timeout 500ms])

    assert_equal 0, server.stop.exitstatus
    await_log(server, / warn mold killed: its at_exit blocks did not finish in time gen=1 pid=\d+$/)
    await_emptiness(server)
  end

  def test_server_that_still_boots_ends_at_once
    server = server(app: "File.write('arrivals', 'BOOT / 0'); sleep", spawn: { pgroup: true })
    server.launch.close
    await_arrivals(server, 1)
    Process.kill(:INT, -server.pid)

    assert_equal 0, server.wait.exitstatus
    await_emptiness(server)
  end

  def test_client_of_a_server_that_still_boots_is_answered_before_the_end
    server = server(app: "File.write('arrivals', 'BOOT / 0'); sleep 0.005 until File.exist?('gate')\n#{GATED}",
                    binds: ["unix://carat.sock"])
    server.launch.close
    await_arrivals(server, 1)
    client = server.connect("unix://#{File.join(server.directory.path, "carat.sock")}")
    client.request("GET", "/")
    server.kill(:TERM)
    await_log(server, /stopping/)
    server.gate.open

    assert_finished(server, [client])
  end

  private

  # One request that runs and two that wait, for a server with one lane.
  def three_requests(server)
    clients = [ask(server, "GET", "/gate")]
    await_arrivals(server, 1)
    clients.push(ask(server, "GET", "/"), ask(server, "POST", "/", body: "x"))
  end

  def refuse_newcomers(server)
    eventually(message: "no new connections") do
      server.connect.close
      false
    rescue Errno::ECONNREFUSED, Errno::ECONNRESET
      true
    end
  end

  def assert_finished(server, clients)
    assert_equal [200] * clients.size, (clients.map { |client| client.read_response.status })
    assert_equal 0, server.wait.exitstatus
    await_emptiness(server)
  end
end
