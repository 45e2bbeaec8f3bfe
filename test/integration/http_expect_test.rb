# frozen_string_literal: true

require "test_helper"

# Expect: 100-continue (RFC 9110, 10.1.1).
class HttpExpectTest < Support::Refusals
  serves Support::Probe::APP, args: %w[--max-body 1KB]

  def test_a_client_that_waits_is_told_to_go_on_at_once
    ["Content-Length: 5", "Transfer-Encoding: chunked"].zip(["hello", "5\r\nhello\r\n0\r\n\r\n"]) do |framing, body|
      client = connect.write(post("Expect: 100-continue", framing))

      assert_equal 100, client.read_response.status
      assert_equal "hello", client.write(body).read_response.body
      assert_equal "/next", client.get("/next").body
    end
  end

  def test_a_client_that_does_not_wait_is_answered_all_the_same
    client = connect.write("#{post("Expect: 100-continue", "Content-Length: 5")}hello")
    responses = [client.read_response]
    responses << client.read_response if responses.last.status == 100

    assert_equal "hello", responses.last.body
  end

  def test_a_body_announced_too_large_is_refused_and_not_asked_for
    assert_refused 413, post("Expect: 100-continue", "Content-Length: 2000")
  end

  def test_a_malformed_head_is_refused_and_no_body_is_asked_for
    assert_refused 400, post("Expect: 100-continue", "Content-Length: 5\r\nContent-Length: 5")
  end

  def test_a_request_without_a_body_is_answered_at_once
    assert_equal "/a", connect.get("/a", fields: { "Expect" => "100-continue" }).body
  end

  def test_http_1_0_gets_no_100
    client = connect.write(post("Expect: 100-continue", "Content-Length: 5").sub("1.1", "1.0"))

    refute client.closed_by_peer?(within: 0.1)
    assert_equal 200, client.write("hello").read_response.status
  end

  private

  def post(*lines)
    "POST /echo HTTP/1.1\r\nHost: a\r\n#{lines.join("\r\n")}\r\n\r\n"
  end
end
