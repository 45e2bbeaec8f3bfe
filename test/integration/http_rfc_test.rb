# frozen_string_literal: true

require "test_helper"

# What RFC 9110 and RFC 9112 say of requests and responses that are rare, and therefore often wrong.
class HttpRfcTest < Support::SharedServerTest
  APP = <<~'RUBY'
    Breaking = Struct.new(:pieces) do
      def each
        pieces.each { |piece| yield piece }
        raise "broken off"
      end
    end
    File.write("page.html", "0123456789")
    Named = Struct.new(:to_path)
    long = "x" * 2000
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/broken" then [200, {}, Breaking.new(["begun"])]
      when "/array" then [200, {}, %w[one two]]
      when "/file" then [200, { "vary" => "x-mine", "content-type" => "text/html" }, Named.new("page.html")]
      when "/long" then [200, { "content-type" => "text/plain" }, [long]]
      when "/coded" then [200, { "transfer-encoding" => env["HTTP_X_CODING"] }, ["plain"]]
      else
        [200, {}, [env.values_at("HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "PATH_INFO", "SERVER_PROTOCOL").join(" ")]]
      end
    end)
  RUBY

  serves APP, threads: 2, args: ["--access-log", "--compress"]

  def test_close_counts_beside_an_option_that_is_no_token
    client = connect.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close, \xFF\r\n\r\n".b)
    assert_equal 200, client.read_response.status
    assert_closed client
    kept = connect.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-a\xDDlive\r\n\r\n".b)
    assert_equal [200, 200], [kept.read_response.status, kept.get("/").status]
  end

  # RFC 9112 leaves it to the server; Puma and nginx take any byte, but a target is text to the http crate.
  def test_a_target_may_have_bytes_beyond_ascii_that_are_utf8
    name = "/caf\u00e9?q=\u009b".b
    served = connect.write("GET #{name} HTTP/1.1\r\nHost: a\r\n\r\n".b).read_response
    refused = connect.write("GET /caf\xE9 HTTP/1.1\r\nHost: a\r\n\r\n".b).read_response

    assert_equal [200, 400], [served.status, refused.status]
    assert_includes served.body, " /caf\u00e9 ".b
    await_log(server, %r{GET /caf\\xC3\\xA9\?q=\\xC2\\x9B })
  end

  # RFC 9110, section 2.5.
  def test_a_higher_minor_version_is_served_as_http11
    response = connect.write("GET /v HTTP/1.2\r\nHost: a\r\n\r\n").read_response
    assert_equal ["HTTP/1.1", 200, "HTTP/1.1"], [response.version, response.status, response.body.split.last]
    assert_equal 505, connect.write("GET /v HTTP/2.0\r\nHost: a\r\n\r\n").read_response.status
  end

  # RFC 9112, section 8: only the end of the connection says where such a body ends.
  def test_a_body_that_breaks_off_does_not_look_complete_to_an_http10_client
    5.times do
      client = connect.write("GET /broken HTTP/1.0\r\nHost: a\r\n\r\n")
      response = client.read_to_end
      assert client.reset_by_peer? || response.start_with?("HTTP/1.1 500"), response
    end
  end

  # RFC 9110, section 15.3.7.
  def test_a_part_has_the_vary_of_the_whole
    whole = connect.get("/file")
    part = connect.get("/file", fields: { "Range" => "bytes=2-4" })
    assert_equal [206, "234", whole.values("vary")], [part.status, part.body, part.values("vary")]
  end

  # RFC 9110, section 6.6.1.
  def test_a_refusal_of_the_guard_has_a_date
    response = connect.write("GET / HTTP/1.1\r\n\r\n").read_response
    assert_equal 400, response.status
    assert_match(/\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, response["date"])
  end

  # RFC 9112, section 3.2.2.
  def test_the_authority_of_an_absolute_target_wins_over_host_in_every_variable
    body = connect.write("GET http://real:81/p HTTP/1.1\r\nHost: other:82\r\n\r\n").read_response.body
    assert_equal "real:81 real 81 /p HTTP/1.1", body
  end

  def test_every_refusal_has_an_access_line_with_the_client_and_why
    { "GET / HTTP/1.1\r\n\r\n" => 400, "GET /#{"a" * 20_000} HTTP/1.1\r\nHost: a\r\n\r\n" => 414,
      "GET / HTTP/1.1\r\nHost: a\r\nX: #{"a" * 200_000}\r\n\r\n" => 431 }.each do |request, status|
      assert_equal status, connect.write(request).read_response.status
      eventually { assert_match(/^127\.0\.0\.1 .* #{status} .*reason="[^"]+"/, log) }
    end
  end

  # Proxies copy the header with all others.
  %w[chunked gzip].each do |coding|
    define_method("test_a_plain_body_that_is_declared_as_#{coding}_is_framed_anew") do
      2.times do
        response = connect.get("/coded", fields: { "X-Coding" => coding })
        assert_equal [200, "plain"], [response.status, response.body]
        refute_includes response.values("transfer-encoding"), "gzip"
      end
    end
  end

  # hyper would answer these by itself, without a log line.
  ["/`", "/\"", "/a\\b", "/<a>", "/{a}", "/a|b", "/^"].each do |target|
    define_method("test_the_target_#{target}_is_answered_by_the_server") do
      response = connect.write("GET #{target} HTTP/1.1\r\nHost: a\r\n\r\n").read_response
      assert_includes [200, 400], response.status
      eventually { assert_match(/ #{response.status} /, log) }
    end
  end
end
