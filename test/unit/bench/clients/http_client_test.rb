# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"
require_relative "../one_connection"

class BenchHttpClientTest < Minitest::Test
  include OneConnection

  def test_a_response_has_status_headers_and_body
    responding("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b: c\r\n\r\nhello") do |port|
      response = Bench::HttpClient.get(port, "/")

      assert_equal [200, "hello", "b: c"], [response.status, response.body, response.headers.fetch("x-a")]
    end
  end

  def test_chunks_are_put_together
    chunks = "5\r\nhello\r\na\r\n, everyone\r\n0\r\n\r\n"
    responding("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#{chunks}") do |port|
      assert_equal "hello, everyone", Bench::HttpClient.get(port, "/").body
    end
  end

  def test_every_cookie_of_a_response_is_known
    cookies = "Set-Cookie: a=1; path=/\r\nset-cookie: b=2=3\r\n"
    responding("HTTP/1.1 200 OK\r\n#{cookies}Content-Length: 0\r\n\r\n") do |port|
      assert_equal %w[a=1 b=2=3], Bench::HttpClient.get(port, "/").cookies
    end
  end

  def test_a_body_can_be_read_piece_by_piece
    responding("HTTP/1.1 206 Partial\r\nContent-Length: 5\r\n\r\nhello") do |port|
      client = Bench::HttpClient.new(port)
      client.request("/")
      body = +""

      assert_equal 206, client.stream { |piece| body << piece }
      assert_equal "hello", body
    end
  end

  def test_a_truncated_response_raises
    responding("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel") do |port|
      assert_raises(EOFError) { Bench::HttpClient.get(port, "/") }
    end
  end

  def test_a_closed_connection_is_not_open
    responding("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") do |port, served|
      client = Bench::HttpClient.new(port)
      client.request("/")
      client.response
      served.join

      refute_predicate client, :open?
    end
  end
end
