# frozen_string_literal: true

require "test_helper"
require "support/http2_client"

# What a client of HTTP/2 may not do: the stream, or the connection, ends, and no other one.
class Http2HostileTest < Support::IntegrationTest
  APP = 'run ->(env) { [200, {}, [env["rack.input"].read]] }'
  PROTOCOL_ERROR = 1
  ENHANCE_YOUR_CALM = 11

  def test_what_http_1_refuses_is_refused
    client = connect(serve(APP, workers: 1, threads: 2, args: %w[--max-uri 1000]))
    cases = { { path: "/\u007f" } => nil, { path: "x" } => nil, { path: "*" } => 400, { authority: nil } => 400,
              { authority: "user@localhost" } => 400, { method: "CONNECT", path: nil, scheme: nil } => 501,
              { method: "A" * 33 } => 501, { path: "/#{"x" * 1000}" } => 414 }

    cases.each.with_index do |(pseudo, status), index|
      assert_refused(client, status, client.request(index * 2 + 1, **pseudo), index * 2 + 1)
    end
  end

  def test_fields_that_http_1_refuses_are_refused
    client = connect(serve_one)
    cases = { { "host" => "other" } => 400, { "x" => " a" } => 400, { "content-length" => "x" } => nil,
              { "connection" => "close" } => nil, { "transfer-encoding" => "chunked" } => nil,
              { "te" => "gzip" } => nil, (1..101).to_h { |index| ["x-#{index}", "1"] } => 431 }

    cases.each.with_index do |(fields, status), index|
      assert_refused(client, status, client.request(index * 2 + 1, fields: fields), index * 2 + 1)
    end
  end

  def test_fields_that_no_decoder_takes_end_the_connection
    server = serve_one
    [{ "X-Upper" => "a" }, { "x y" => "a" }, { "x" => "a\nb" }, { "" => "a" }].each do |fields|
      client = connect(server)
      client.write(client.request(1, fields: fields))
      assert_equal PROTOCOL_ERROR, client.await(:go_away, :reset)&.error, fields
    end
    assert_served(connect(server), 1)
  end

  def test_headers_that_are_too_large_get_431
    client = connect(serve_one)
    head = Support::Http2Client.block([[":method", "GET"], [":scheme", "http"], [":path", "/"], [":authority", "a"],
                                       *Array.new(6) { |index| ["x-#{index}", "x" * 12_000] }])
    first, *rest = head.scan(/.{1,16000}/mn)
    frames = [client.frame(:headers, first, flags: 1, stream: 1),
              *rest.map { |part| client.frame(:continuation, part, stream: 1) }]
    frames.last.setbyte(4, Support::Http2Client::END_HEADERS)

    assert_refused(client, 431, frames.join, 1)
  end

  def test_a_body_of_another_length_than_declared_is_refused
    client = connect(serve_one)
    head = client.request(1, method: "POST", fields: { "content-length" => "5" }, flags: 0x4)
    client.write(head, client.frame(:data, "12345678", flags: 1, stream: 1))

    assert_equal PROTOCOL_ERROR, client.await(:reset).error
    assert_served(client, 3)
  end

  def test_floods_of_frames_end_the_connection_that_makes_them
    server = serve_one
    other = connect(server)
    { ping: "x" * 8, settings: "", window_update: [1].pack("N"), 0x77 => "" }.each do |kind, payload|
      client = connect(server)
      frame = client.frame(kind, payload)
      assert_equal ENHANCE_YOUR_CALM, client.flood { frame * 100 }&.error, kind
      assert_logged(server, /too many /)
    end
    assert_served(other, 1)
  end

  def test_floods_within_a_stream_end_the_connection
    server = serve_one
    { data: "", priority: "\0\0\0\0\1", window_update: [1].pack("N") }.each do |kind, payload|
      client = connect(server)
      client.write(client.request(1, method: "POST", flags: 0x4))
      frame = client.frame(kind, payload, stream: 1)
      assert_equal ENHANCE_YOUR_CALM, client.flood { frame * 100 }&.error, kind
    end
  end

  def test_headers_that_never_end_end_the_connection
    client = connect(serve_one)
    client.write(client.request(1, flags: 0))
    frame = client.frame(:continuation, "", stream: 1)

    assert_equal ENHANCE_YOUR_CALM, client.flood { frame * 100 }&.error
  end

  def test_requests_that_are_canceled_at_once_end_the_connection
    server = serve_one
    client = connect(server)
    stream = -1
    end_of_it = client.flood do
      stream += 2
      [client.request(stream), client.frame(:reset, [8].pack("N"), stream: stream)]
    end

    assert_equal ENHANCE_YOUR_CALM, end_of_it&.error
    assert_logged(server, /excessive load|reset or refused/)
    assert_served(connect(server), 1)
  end

  def test_requests_that_are_canceled_one_by_one_end_the_connection
    server = serve_one
    client = connect(server)
    stream = -1
    end_of_it = client.flood do
      stream += 2
      client.write(client.request(stream, method: "POST", flags: 0x4), client.frame(:ping, "x" * 8))
      seen = client.await(:ping)
      seen.kind == :ping ? client.frame(:reset, [8].pack("N"), stream: stream) : seen
    end

    assert_equal ENHANCE_YOUR_CALM, end_of_it&.error
    assert_logged(server, /too many requests were reset or refused/)
    assert_served(connect(server), 1)
  end

  # CVE-2025-8671: the client makes the server reset the streams.
  def test_requests_that_the_server_has_to_reset_end_the_connection
    server = serve_one
    client = connect(server)
    stream = -1
    end_of_it = client.flood do
      stream += 2
      [client.request(stream, method: "POST", fields: { "content-length" => "1" }, flags: 0x4),
       client.frame(:data, "too long", stream: stream)]
    end

    assert_equal ENHANCE_YOUR_CALM, end_of_it&.error
    assert_served(connect(server), 1)
  end

  def test_a_client_that_opens_no_window_has_the_write_timeout
    server = serve('run ->(_) { [200, {}, ["x" * 100_000]] }', workers: 1, threads: 1, args: %w[--write-timeout 1])
    client = connect(server, settings: { Support::Http2Client::INITIAL_WINDOW_SIZE => 0 })
    client.write(client.request(1))

    assert_equal 200, client.await(:headers).status
    assert_equal 8, client.await(:reset, stream: 1).error
    assert_equal 200, client.write(client.request(3)).await(:headers, stream: 3).status
  end

  def test_half_a_head_has_the_header_timeout
    server = serve(APP, workers: 1, threads: 1, args: %w[--header-timeout 1])
    client = connect(server)
    client.write(client.request(1)[0, 12])

    assert_equal ENHANCE_YOUR_CALM, client.await(:go_away)&.error
    assert_logged(server, /the request arrived too slowly/)
  end

  def test_an_idle_connection_is_told_to_go
    client = connect(serve(APP, workers: 1, threads: 1, args: %w[--idle-timeout 1]))
    assert_served(client, 1)

    assert_equal 0, client.await(:go_away).error
    assert_nil client.await(:data)
  end

  def test_more_streams_than_allowed_are_refused
    server = serve("run ->(_) { sleep }", workers: 1, threads: 1, args: %w[--http2-max-streams 2])
    client = connect(server)
    client.write(*[1, 3, 5].map { |stream| client.request(stream) })

    assert_equal [5, 7], client.await(:reset).then { |frame| [frame.stream, frame.error] }
  end

  private

  def serve_one
    serve(APP, workers: 1, threads: 2)
  end

  def connect(server, **options)
    Support::Http2Client.new(server.connect, **options)
  end

  # @param status [Integer, nil] nil when the stream is reset as malformed
  def assert_refused(client, status, frames, stream)
    client.write(frames)
    answer = client.await(:headers, :reset, stream: stream)
    seen = answer.kind == :headers ? answer.status : answer.error
    assert_equal status || PROTOCOL_ERROR, seen, frames.inspect[0, 200]
  end

  def assert_served(client, stream)
    client.write(client.request(stream))
    assert_equal 200, client.await(:headers, stream: stream).status
  end

  def assert_logged(server, reason)
    await_log(server, /warn HTTP.2 connections ended clients=\d+ last=127\.0\.0\.1 reason=.*#{reason}/)
  end
end
