# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/http_client"

class BenchHttpClientTest < Minitest::Test
  def test_an_answer_has_status_headers_and_body
    serving("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b: c\r\n\r\nhello") do |port|
      answer = Bench::HttpClient.get(port, "/")

      assert_equal [200, "hello", "b: c"], [answer.status, answer.body, answer.headers.fetch("x-a")]
    end
  end

  def test_chunks_are_put_together
    serving("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na\r\n, everyone\r\n0\r\n\r\n") do |port|
      assert_equal "hello, everyone", Bench::HttpClient.get(port, "/").body
    end
  end

  def test_an_answer_that_breaks_off_raises
    serving("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel") do |port|
      assert_raises(EOFError) { Bench::HttpClient.get(port, "/") }
    end
  end

  def test_a_closed_connection_is_not_open
    serving("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") do |port, served|
      client = Bench::HttpClient.new(port)
      client.ask("/")
      client.answer
      served.join

      refute_predicate client, :open?
    end
  end

  private

  # One connection that gets these bytes and is closed.
  def serving(bytes)
    listener = TCPServer.new("127.0.0.1", 0)
    served = Thread.new do
      socket = listener.accept
      socket.readline("\r\n\r\n")
      socket.write(bytes)
      socket.close
    end
    yield listener.addr[1], served
  ensure
    served.join
    listener.close
  end
end
