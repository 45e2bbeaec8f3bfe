# frozen_string_literal: true

require "test_helper"

# What is too large is refused with the status that says so, and its connection is closed.
class HttpLimitsTest < Support::Refusals
  MAX_HEADER_BYTES = 2048
  MAX_HEADERS = 10
  MAX_URI = 200
  MAX_BODY = 1024 * 1024
  TOO_LARGE = "x" * (10 * MAX_BODY)
  # Responds with what arrives, as it arrives.
  ECHO = <<~'RUBY'
    run(lambda do |env|
      [200, {}, Enumerator.new { |parts| while (part = env["rack.input"].read(1)) do parts << part end }]
    end)
  RUBY

  serves Support::Probe::APP,
         args: %W[--max-header-bytes #{MAX_HEADER_BYTES} --max-headers #{MAX_HEADERS} --max-uri #{MAX_URI}
                  --max-body #{MAX_BODY} --inline-body-limit 1024]

  def test_a_head_without_an_end_is_431
    assert_refused 431, "GET / HTTP/1.1\r\nHost: a\r\nX: #{"x" * (10 * MAX_HEADER_BYTES)}"
    assert_refused 431, "GET / HTTP/1.1\r\nHost: a\r\n#{"X: y\r\n" * 9}#{"x" * (10 * MAX_HEADER_BYTES)}"
  end

  def test_trailers_too_large_are_logged_with_their_reason
    server = serve(Support::Probe::APP, args: %w[--access-log])
    { trailers(101) => "too many headers", trailers_of(65_537) => "header is too large" }.each do |bytes, reason|
      assert_equal 431, status(server, bytes)
      await_log(server, %r{^127\.0\.0\.1 .*"POST / HTTP/1\.1" 431 .* reason="#{reason}"$})
    end
  end

  def test_trailers_too_large_end_a_response_that_has_begun
    server = serve(ECHO, args: %w[--request-body stream --access-log])
    client = server.connect.write(chunked("1\r\nx\r\n"))
    client.read_exactly("HTTP/1.1 200 OK".size)
    rest = client.write("0\r\nX: #{"y" * 70_000}").read_to_end

    refute_match(/\r\n0\r\n\r\n\z/, rest)
    await_log(server, %r{"POST / HTTP/1\.1" 200 1 .* reason="header is too large"$})
  end

  def test_a_body_of_exactly_the_limit_is_taken_in_either_framing
    body = "x" * MAX_BODY
    [[{}, body], [{ "Transfer-Encoding" => "chunked" }, chunks(body)]].each do |fields, sent|
      assert_match(/\A#{MAX_BODY} /o, server.request("POST", "/digest", fields: fields, body: sent).body)
    end
  end

  def test_a_body_one_byte_over_the_limit_is_413_in_either_framing
    assert_refused 413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{MAX_BODY + 1}\r\n\r\n"
    assert_refused 413, chunked(chunks("x" * (MAX_BODY + 1)))
  end

  def test_a_client_that_sends_all_of_a_body_announced_too_large_can_read_the_413
    assert_refused 413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{TOO_LARGE.bytesize}\r\n\r\n#{TOO_LARGE}"
  end

  def test_a_client_that_sends_all_of_a_chunked_body_too_large_can_read_the_413
    assert_refused 413, chunked(chunks(TOO_LARGE))
  end

  def test_what_was_spooled_of_a_body_too_large_is_given_back
    before = descriptors
    3.times { test_a_client_that_sends_all_of_a_chunked_body_too_large_can_read_the_413 }

    eventually { descriptors <= before }
  end

  def test_the_defaults_are_those_of_the_table
    server = serve(Support::Probe::APP)
    statuses = [headers(100), headers(101), target(16_384), target(16_385), head_of(65_536), head_of(65_537),
                trailers(100), trailers(101), trailers_of(65_536), trailers_of(65_537),
                announcing(1024**3), announcing((1024**3) + 1)].map { |bytes| status(server, bytes) }

    assert_equal [200, 431, 200, 414, 200, 431, 200, 431, 200, 431, 100, 413], statuses
  end

  def test_limits_may_be_higher_than_what_the_parser_would_take_by_itself
    server = serve(Support::Probe::APP, args: %w[--max-header-bytes 1MB --max-headers 5000 --max-uri 60000])
    statuses = [headers(5000), headers(5001), target(60_000), target(60_001), head_of(1024**2), head_of((1024**2) + 1),
                trailers(5000), trailers(5001), trailers_of(1024**2), trailers_of((1024**2) + 1)]
               .map { |bytes| status(server, bytes) }

    assert_equal [200, 431] + [200, 414] + ([200, 431] * 3), statuses
  end

  private

  def target(bytes)
    "GET /#{"x" * (bytes - 1)} HTTP/1.1\r\nHost: a\r\n\r\n"
  end

  def announcing(bytes)
    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: #{bytes}\r\n\r\n"
  end

  def head_of(bytes)
    start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
    "#{start}#{"x" * (bytes - start.bytesize - 4)}\r\n\r\n"
  end

  def headers(count)
    "GET / HTTP/1.1\r\nHost: a\r\n#{"X: y\r\n" * (count - 1)}\r\n"
  end

  def trailers(count)
    chunked("0\r\n#{"X: y\r\n" * count}\r\n")
  end

  # Trailers of so many bytes, the blank line included.
  def trailers_of(bytes)
    chunked("0\r\nX: #{"y" * (bytes - "X: \r\n\r\n".size)}\r\n\r\n")
  end

  def chunked(body)
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{body}"
  end
end
