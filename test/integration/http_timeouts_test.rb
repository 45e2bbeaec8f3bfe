# frozen_string_literal: true

require "test_helper"

# A client that is too slow loses its connection, and hears why if it has begun a request.
class HttpTimeoutsTest < Support::Refusals
  TIMEOUT = 1

  serves Support::Probe::APP, args: %W[--header-timeout #{TIMEOUT} --idle-timeout #{TIMEOUT} --access-log]

  def test_a_head_that_is_not_complete_in_time_is_408
    after_the_timeout { assert_too_slow connect.write("GET /slow HTTP/1.1\r\nHost: a\r\n") }
  end

  def test_a_head_that_trickles_in_is_408_as_a_whole
    after_the_timeout do
      client = connect.write("GET /slow HTTP/1.1\r\n")
      eventually { client.closed_by_peer?(within: 0.05) || !client.write("X") }
      assert_too_slow client
    end
  end

  def test_the_second_head_of_a_connection_has_as_much_time
    after_the_timeout do
      client = connect.write("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /slow")

      assert_equal "/first", client.read_response.body
      assert_too_slow client
    end
  end

  def test_a_client_that_says_nothing_has_as_much_time_and_is_closed_silently
    patient = serve(Support::Probe::APP, args: ["--header-timeout", TIMEOUT.to_s])

    after_the_timeout { assert_closed patient.connect }
  end

  def test_an_idle_connection_is_closed_silently
    after_the_timeout do
      client = connect

      assert_equal "/a", client.get("/a").body
      assert_closed client
    end
  end

  def test_an_application_may_take_longer_than_a_client
    client = connect
    client.request("GET", "/sleep?#{TIMEOUT + 0.5}")

    assert_equal "slept", client.read_response.body
  end

  private

  # The block ends when the time is up, and no sooner.
  def after_the_timeout(seconds = TIMEOUT)
    start = Support::Eventually.now
    yield

    assert_operator Support::Eventually.now - start, :>=, seconds
  end

  def assert_too_slow(client)
    response = client.read_response

    assert_equal [408, "close"], [response.status, response["connection"]]
    assert_closed client
    refute_includes log, "/slow"
  end
end
