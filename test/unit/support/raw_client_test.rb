# frozen_string_literal: true

require "test_helper"

class RawClientTest < Minitest::Test
  def setup
    @peer, socket = UNIXSocket.pair
    @client = Support::RawClient.new(socket)
  end

  def teardown
    @client.close
    @peer.close
  end

  def test_responses_in_a_row_are_told_apart_by_their_length
    @peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 404 Not Found\r\ncontent-length: 1\r\n\r\nc")

    assert_equal [200, "ab"], @client.read_response.to_h.values_at(:status, :body)
    assert_equal [404, "c"], @client.read_response.to_h.values_at(:status, :body)
  end

  def test_chunks_are_joined_and_trailers_taken
    @peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n.")

    assert_equal "ab0123456789", @client.read_response.body
    assert_equal ".", @client.read_exactly(1)
  end

  def test_body_without_a_length_ends_with_the_connection
    @peer.write("HTTP/1.0 200 OK\r\n\r\nall")
    @peer.close

    assert_equal "all", @client.read_response.body
  end

  def test_no_body_follows_a_head_request_an_informational_answer_or_a_304
    @peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" \
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")

    responses = [@client.read_response(head: true), @client.read_response, @client.read_response]

    assert_equal [200, 100, 304], responses.map(&:status)
    assert(responses.all? { |response| response.body.empty? })
  end

  def test_fields_keep_their_order_and_are_found_in_any_case
    @peer.write("HTTP/1.1 204 No Content\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\n")
    response = @client.read_response

    assert_equal %w[a=1 b=2], response.values("SET-COOKIE")
    assert_equal "a=1", response["set-cookie"]
    assert_nil response["x"]
  end

  def test_end_in_the_middle_of_a_body_is_an_error
    @peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    @peer.close

    assert_raises(EOFError) { @client.read_response }
  end

  def test_silence_is_an_error_after_the_deadline
    assert_raises(Support::Eventually::TooLate) { @client.read_response(within: 0.05) }
    refute @client.closed_by_peer?(within: 0.05)
  end

  def test_request_has_host_and_length
    @client.request("POST", "/x", fields: { "A" => %w[1 2] }, body: "abc")

    assert_equal "POST /x HTTP/1.1\r\nHost: localhost\r\nA: 1\r\nA: 2\r\nContent-Length: 3\r\n\r\nabc",
                 @peer.readpartial(999)
  end
end
