# frozen_string_literal: true

require "json"
require "test_helper"

# The time between the request to stop and the stop.
class DrainTest < Support::IntegrationTest
  include Support::ControlledServer

  APP = 'run ->(env) { [200, {}, [env["PATH_INFO"]]] }'
  # Longer than any test: a second request to stop ends it.
  ARGUMENTS = %w[--drain-delay 1h --readiness-path /up --control-socket carat.sock].freeze

  def test_the_server_serves_on_and_says_that_it_is_not_ready
    server = drain(before: known = [])

    assert_equal "200 /kept close", answer(known.first.get("/kept"))
    assert_predicate known.first, :closed_by_peer?
    assert_equal "200 / close", answer(server.connect.get)
    assert_equal 503, server.get("/up").status
    assert_equal 503, server.get("/up?from=probe").status
    assert_equal 200, server.get("/up/there").status
    assert_match(/, draining for another \d+ min, up/, carat(server, "status").first)
    assert_equal ["", "carat: the server is stopping\n", 1], carat(server, "restart")
  end

  def test_a_request_that_was_sent_before_the_response_does_not_take_it_away
    server = drain
    client = server.connect.write("GET /first HTTP/1.1\r\nHost: a\r\n\r\n" * 1000)

    assert_equal "200 /first close", answer(client.read_response)
    refute_predicate client.tap(&:read_to_end), :reset_by_peer?
  end

  private

  # A server that drains. `before` gets a client that connected and asked before.
  def drain(before: [])
    server = serve(APP, args: ARGUMENTS)
    before << server.connect.tap { |client| assert_equal "200 /up", answer(client.get("/up")) }
    server.kill(:TERM)
    await_log(server, / draining /)
    server
  end

  def answer(response)
    [response.status, response.body, response["connection"]].compact.join(" ")
  end
end
