# frozen_string_literal: true

require "test_helper"

# The whole server stands still for longer than its timeouts, as in a container that is frozen.
class ProcessPauseTest < Support::IntegrationTest
  TIMEOUT = 1.5

  def test_requests_that_ran_before_a_pause_are_answered_after_it
    server = serve(Support::Gate::APP, threads: 2, workers: 2,
                                       args: ["--request-timeout", TIMEOUT.to_s, "--queue-timeout", TIMEOUT.to_s,
                          "--header-timeout", TIMEOUT.to_s])
    clients = Array.new(6) { ask(server, "POST", "/gate") }
    await_arrivals(server, 4)
    half = server.connect.write("GET / HTTP/1.1\r\n")
    workers = server.workers.values
    pause(server) { server.gate.open }

    assert_equal [200] * 6, (clients.map { |client| client.read_response.status })
    assert_equal 200, half.write("Host: a\r\n\r\n").read_response.status
    assert_equal workers, server.workers.values
    await_log(server, /warn the server stood still seconds=\d/)
  end

  private

  def pause(server)
    pids = [server.pid, *server.children]
    pids.each { |pid| Process.kill(:STOP, pid) }
    wake_at = Support::Eventually.now + (2 * TIMEOUT)
    eventually { Support::Eventually.now > wake_at }
    yield
  ensure
    pids&.each { |pid| Process.kill(:CONT, pid) }
  end
end
