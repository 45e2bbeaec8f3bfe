# frozen_string_literal: true

require "test_helper"

class HttpPipeliningTest < Support::SharedServerTest
  serves Support::Probe::APP, threads: 1

  def test_bodies_of_either_framing_do_not_run_into_the_next_request
    client = connect.write([post("one"), chunked("two"), get("/x"), post(""), chunked(""), post("GET /no HTTP/1.1\r\n"),
                            get("/y")].join)

    assert_equal ["one", "two", "/x", "", "", "GET /no HTTP/1.1\r\n", "/y"], bodies(client, 7)
    refute_includes log, "/no"
  end

  def test_more_than_is_read_ahead_arrives_complete_and_in_order
    body = "x" * 20_000
    client = connect.write((0..9).map { |nth| post("#{nth}#{body}") }.join)

    assert_equal (0..9).map { |nth| "#{nth}#{body}" }, bodies(client, 10)
  end

  def test_a_malformed_second_request_does_not_take_the_first_answer_away
    client = connect.write("#{get("/first")}BAD\r\n\r\n")

    assert_equal "/first", client.read_response.body
    assert_equal 400, client.read_response.status
    assert_closed client
  end

  def test_a_malformed_body_of_the_second_request_does_not_take_the_first_answer_away
    client = connect.write("#{get("/first")}#{chunked("two").sub("3\r\n", "0x3\r\n")}#{get("/third")}")

    assert_equal "/first", client.read_response.body
    assert_equal 400, client.read_response.status
    assert_closed client
    refute_includes log, "/third"
  end

  def test_head_answers_have_no_body_among_others
    client = connect.write("#{get("/a")}HEAD /b HTTP/1.1\r\nHost: a\r\n\r\n#{get("/c")}")

    assert_equal "/a", client.read_response.body
    assert_equal 200, client.read_response(head: true).status
    assert_equal "/c", client.read_response.body
  end

  # CVE-2021-29509: a client that always has another request ready kept all others waiting.
  def test_a_client_with_many_requests_does_not_keep_another_waiting
    connect.write(get("/sleep?0.02") * 100)
    eventually { log.include?("/sleep") }

    assert_equal "/other", server.get("/other").body
    assert_operator log.scan("/sleep").size, :<, 50
  end

  private

  def get(path)
    "GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n"
  end

  def post(body)
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}"
  end

  def chunked(body)
    chunk = "#{body.bytesize.to_s(16)}\r\n#{body}\r\n" unless body.empty?
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{chunk}0\r\n\r\n"
  end

  def bodies(client, count)
    Array.new(count) { client.read_response.body }
  end
end
