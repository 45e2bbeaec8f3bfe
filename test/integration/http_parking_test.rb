# frozen_string_literal: true

require "test_helper"

# A connection that has been idle for a second is taken out of hyper and waits as a bare socket.
class HttpParkingTest < Support::SharedServerTest
  UNTIL_PARKED = 1.3
  GET = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
  REQUESTS = [GET, "\r\n#{GET}", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
              "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
              "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"].freeze

  serves Support::Probe::APP

  # Connections for all tests, so that only the first one waits until they are parked; that wait is the block.
  def self.pool
    @pool ||= Array.new(12) { server.connect }.tap { |clients| yield clients }
  end

  def test_parked_connections_are_as_good_as_new
    REQUESTS.zip(parked(REQUESTS.size)) do |request, client|
      2.times { assert_equal "/a", client.write(request).read_response.body, request }
    end
  end

  def test_requests_that_arrive_together_wake_a_connection_once
    client = parked(1).first.write(GET * 3)

    3.times { assert_equal "/a", client.read_response.body }
  end

  def test_line_ends_behind_a_message_do_not_wake_a_connection_to_its_harm
    client, halved = parked(2)
    client.write("\r\n")
    halved.write("\r")
    listen_to(client, halved)
    halved.write("\n")

    [client, halved].each { |woken| assert_equal "/a", woken.write(GET).read_response.body }
  end

  def test_a_head_that_comes_in_two_parts_is_put_together
    client = parked(1).first
    client.write(GET[0])

    assert_equal "/a", client.write(GET[1..]).read_response.body
  end

  def test_a_parked_connection_is_still_guarded
    assert_equal 400, parked(1).first.write("GET /b HTTP/1.1\n\n").read_response.status
  end

  def test_a_parked_client_that_leaves_is_forgotten
    clients = parked(2)
    before = descriptors
    clients.each(&:close)

    eventually { descriptors <= before - clients.size }
  end

  private

  # Connections that have answered one request with a body and were left alone since.
  def parked(count)
    pool = self.class.pool do |clients|
      clients.each { |client| assert_equal 200, client.request("POST", "/", body: "hello").read_response.status }
      listen_to(*clients)
    end
    pool.shift(count).each { |client| @clients << client }
  end

  # Listens to connections for long enough that all of them are parked; they stay open and silent.
  def listen_to(*clients)
    deadline = Support::Eventually.now + UNTIL_PARKED
    clients.each do |client|
      left = deadline - Support::Eventually.now
      refute client.closed_by_peer?(within: [left, 0].max), -> { "closed after #{client.read_to_end.inspect}" }
    end
  end
end
