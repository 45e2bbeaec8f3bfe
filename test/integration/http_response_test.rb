# frozen_string_literal: true

require "rack"
require "test_helper"

# The framing of answers, as bytes.
class HttpResponseTest < Support::SharedServerTest
  serves <<~'RUBY'
    pieces = ->(*strings) { Enumerator.new { |out| strings.each { |string| out << string } } }
    chunked = { "transfer-encoding" => "chunked" }

    answers = {
      "/array" => [200, {}, %w[abc de]],
      "/empty" => [200, {}, []],
      "/stream" => [200, {}, pieces.call("abc", "", "\u00e4\0", "x" * 300)],
      "/length" => [200, { "content-length" => "5" }, pieces.call("abc", "de")],
      "/large" => [200, { "content-length" => "200000" }, pieces.call(*["x" * 50_000] * 4)],
      "/long" => [200, { "content-length" => "3" }, ["abcde"]],
      "/stream-too-long" => [200, { "content-length" => "70000" }, pieces.call(*["x" * 50_000] * 2)],
      "/stream-too-short" => [200, { "content-length" => "100000" }, pieces.call("abc")],
      "/chunked" => [200, chunked, pieces.call("3\r\nabc\r\n", "2\r\nde\r\n0\r\nx: y\r\n\r\n")],
      "/badly-chunked" => [200, chunked, pieces.call("3\r\nabc\r\n", "not a chunk")],
      "/both" => [200, chunked.merge("content-length" => "99"), pieces.call("2\r\nde\r\n0\r\n\r\n")],
      "/length-of-letters" => [200, { "content-length" => "five" }, pieces.call("abc", "de")],
      "/negative-length" => [200, { "content-length" => "-5" }, pieces.call("abc", "de")],
      "/same-lengths" => [200, { "content-length" => "5", "Content-Length" => "5" }, pieces.call("abc", "de")],
      "/two-lengths" => [200, { "content-length" => "2\n5" }, pieces.call("abc", "de")],
      "/close" => [200, { "connection" => "close" }, ["closing"]],
      "/204" => [204, { "content-length" => "5" }, []],
      "/304" => [304, { "etag" => "x", "content-length" => "5", "content-type" => "text/plain" }, []],
      "/205" => [205, {}, ["content"]],
      "/201" => [201, {}, []],
      "/599" => [599, {}, ["odd"]],
      "/date" => [200, { "date" => "yesterday" }, []]
    }
    run ->(env) { answers.fetch(env["PATH_INFO"]) }
  RUBY

  def test_a_known_length_is_told
    assert_framing "/array", "content-length: 5", "abcde"
    assert_framing "/empty", "content-length: 0", ""
    assert_framing "/length", "content-length: 5", "abcde"
    assert_framing "/large", "content-length: 200000", "x" * 200_000
  end

  def test_a_stream_goes_out_in_chunks_of_its_pieces
    head, body = raw("GET /stream HTTP/1.1\r\nHost: a\r\n")

    assert_includes head, "transfer-encoding: chunked"
    refute_match(/^content-length/, head)
    assert_equal "abc#{"\u00e4\0".b}#{"x" * 300}".b, dechunk(body)
  end

  def test_a_client_of_http_1_0_gets_a_stream_as_it_is_until_the_connection_closes
    ["", "Connection: keep-alive\r\n"].each do |connection|
      head, body = raw("GET /stream HTTP/1.0\r\n#{connection}", close: "")

      refute_match(/^(transfer-encoding|content-length|connection: keep-alive)/, head)
      assert_equal "abc#{"\u00e4\0".b}#{"x" * 300}".b, body
    end
  end

  def test_a_head_answer_has_the_framing_of_its_get_and_no_body
    { "/array" => "5", "/length" => "5", "/large" => "200000", "/304" => "5" }.each do |path, length|
      head, body = raw("HEAD #{path} HTTP/1.1\r\nHost: a\r\n")

      assert_equal ["content-length: #{length}", ""], [head[/^content-length[^\r]*/], body], path
    end
  end

  def test_a_head_answer_tells_no_length_that_is_not_true
    %w[/stream /chunked].each do |path|
      head, body = raw("HEAD #{path} HTTP/1.1\r\nHost: a\r\n")

      assert_includes [nil, "content-length: 5"], head[/^content-length[^\r]*/], path
      assert_equal "", body
    end
  end

  def test_statuses_without_a_body_have_none
    %w[204 304].each do |status|
      head, body = raw("GET /#{status} HTTP/1.1\r\nHost: a\r\n")

      assert_match(/\AHTTP\/1\.1 #{status} /, head)
      refute_match(/^transfer-encoding|^content-type/, head)
      assert_equal "", body
    end
    %w[/201 /205].each { |path| assert_framing path, "content-length: 0", "" }
    %w[GET HEAD].each do |verb|
      refute_match(/^content-length/, raw("#{verb} /204 HTTP/1.1\r\nHost: a\r\n").first)
    end
  end

  def test_all_of_these_leave_the_connection_in_step
    client = connect
    %w[/array /empty /stream /length /large /chunked /204 /304 /205 /201 /599].each do |path|
      refute_nil client.get(path), path
      client.request("HEAD", path)
      refute_nil client.read_response(head: true), path
    end

    assert_equal "abcde", client.get("/array").body
  end

  def test_a_body_longer_than_its_length_is_put_right_or_cut
    assert_framing "/long", "content-length: 5", "abcde"
    head, body = raw("GET /stream-too-long HTTP/1.1\r\nHost: a\r\n")

    assert_match(/^content-length: 70000/, head)
    assert_operator body.bytesize, :<=, 70_000
  end

  def test_a_stream_shorter_than_its_length_closes_the_connection
    client = connect.write("GET /stream-too-short HTTP/1.1\r\nHost: a\r\n\r\n")

    assert_operator client.read_to_end.bytesize, :<, 100_000
  end

  def test_chunks_of_the_application_are_taken_apart_and_its_trailers_dropped
    head, body = raw("GET /chunked HTTP/1.1\r\nHost: a\r\n")

    assert_equal 1, head.scan("transfer-encoding: chunked").size
    assert_equal "abcde", dechunk(body)
    refute_includes body, "x: y"
    assert_equal "abcde", raw("GET /chunked HTTP/1.0\r\n").last
  end

  def test_chunks_of_the_application_that_are_none_break_the_answer
    client = connect.write("GET /badly-chunked HTTP/1.1\r\nHost: a\r\n\r\n")

    assert_raises(EOFError) { client.read_response }
  end

  def test_an_answer_never_has_two_framings
    head, body = raw("GET /both HTTP/1.1\r\nHost: a\r\n")

    assert_equal [nil, "de"], [head[/^content-length[^\r]*/], dechunk(body)]
  end

  def test_a_length_that_is_not_one_number_is_an_internal_server_error
    %w[/length-of-letters /negative-length /two-lengths].product(%w[GET HEAD]) do |path, verb|
      response = server.request(verb, path)

      assert_equal [500, nil], [response.status, response["content-length"]&.[](/[^\d]/)], "#{verb} #{path}"
      eventually(message: "a line about #{verb} #{path}") { log.include?("#{verb} #{path}") }
    end
    assert_equal "abcde", server.get("/same-lengths").body
  end

  def test_the_application_may_close_the_connection
    client = connect

    assert_equal %w[closing close], client.get("/close").then { |response| [response.body, response["connection"]] }
    assert_closed client
  end

  def test_a_date_is_added_unless_the_application_has_one
    assert_match(/\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, server.get("/array")["date"])
    assert_equal %w[yesterday], server.get("/date").values("date")
  end

  private

  # The head and the body of the answer to this request, as bytes.
  def raw(request, close: "Connection: close\r\n")
    client = connect.write("#{request}#{close}\r\n")
    client.read_to_end.split("\r\n\r\n", 2)
  end

  def assert_framing(path, field, content)
    head, body = raw("GET #{path} HTTP/1.1\r\nHost: a\r\n")

    assert_equal [[field], content], [head.scan(/^(?:content-length|transfer-encoding)[^\r]*/), body]
  end

  # The content of a body that is nothing but chunks, the last one included.
  def dechunk(body)
    content = +"".b
    until body.delete_prefix!("0\r\n\r\n") == ""
      size = body.slice!(/\A\h+\r\n/) or flunk("no chunk: #{body.inspect}")
      content << body.slice!(0, size.hex)

      assert_equal "\r\n", body.slice!(0, 2)
    end
    content
  end
end
