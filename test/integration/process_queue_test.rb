# frozen_string_literal: true

require "test_helper"

class ProcessQueueTest < Support::IntegrationTest
  def test_request_beyond_queue_limit_gets_503_and_when_to_come_back
    server = fill(args: %w[--queue-limit 2])
    waiting = Array.new(2) { |number| ask(server, "GET", "/#{number}") }
    see_edge_go_round(server)
    refused = server.get("/refused")

    assert_equal [503, "1"], [refused.status, refused["retry-after"]]
    await_log(server, / warn queue full refused=1 queue_limit=2$/)
    server.gate.open
    assert_equal [200, 200], (waiting.map { |client| client.read_response.status })
    refute_includes server.gate.arrivals.map(&:path), "/refused"
    assert_equal 200, server.get("/later").status
  end

  def test_connection_of_a_refused_request_stays_open
    server = fill(args: %w[--queue-limit 1])
    ask(server, "GET", "/waits")
    see_edge_go_round(server)
    client = ask(server, "GET", "/refused")

    assert_equal 503, client.read_response.status
    server.gate.open
    eventually { client.get("/again").status == 200 }
  end

  def test_request_that_waits_longer_than_queue_timeout_gets_503
    server = fill(args: %w[--queue-timeout 2])
    client = ask(server, "GET", "/waits")
    response = client.read_response

    assert_equal [503, "1"], [response.status, response["retry-after"]]
    await_log(server, %r{ warn request waited too long request="GET /waits"$})
    server.gate.open
    assert_equal 200, server.get("/later").status
    refute_includes server.gate.arrivals.map(&:path), "/waits"
  end

  private

  # A server whose only lane is taken, until the gate is opened.
  def fill(**options)
    server = serve(Support::Gate::APP, threads: 1, **options)
    @first = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    server
  end
end
