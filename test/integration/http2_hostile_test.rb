# frozen_string_literal: true

require "test_helper"

# What a client of HTTP/2 may not do: the stream, or the connection, ends, and no other one.
class Http2HostileTest < Support::SharedServerTest
  APP = 'run ->(env) { [200, {}, [env["rack.input"].read]] }'
  PROTOCOL_ERROR = 1
  ENHANCE_YOUR_CALM = 11
  # Streams of a flood that are reset together: 20 a second may be, however slow this machine is.
  AT_ONCE = 50

  serves APP, threads: 2

  # RFC 9113, section 8.1.1: behind a proxy, the connection has the requests of others.
  def test_a_malformed_field_ends_no_other_request
    client = connect(server)
    client.write(client.request(1, method: "POST", flags: 0x4))
    cases = [[{ "X-Upper" => "a" }], [{ "x y" => "a" }], [{ "x" => "a\nb" }], [{ "x" => "\0" }], [{ "x\"" => "a" }],
             [{}, { foo: "a" }], [{}, { scheme: "" }], [{}, { path: "/\xff" }, true], [{}, { authority: "\xff" }, true]]
    cases.each.with_index do |(fields, pseudo, is_reset), index|
      stream = index * 2 + 3
      assert_refused(client, is_reset ? nil : 400, client.request(stream, fields: fields, **pseudo.to_h), stream)
    end
    client.write(client.frame(:data, "alive", flags: 1, stream: 1))

    assert_equal [200, "alive"], [client.await(:headers, stream: 1).status, client.await(:data, stream: 1).payload]
  end

  # RFC 9113, section 8.1.1: it is an error of the stream, before which a response may be sent.
  def test_a_malformed_field_gets_its_whole_response_and_a_reset
    client = connect(server)
    client.write(client.request(1, fields: { "X-Upper" => "a" }))
    head, body, reset = Array.new(3) { client.await(:headers, :data, :reset, stream: 1) }

    assert_equal [400, "malformed header name\n", 0], [head.status, body.payload, body.flags & 1]
    assert_equal [:reset, PROTOCOL_ERROR], [reset.kind, reset.error]
    client.write(client.request(3, method: "HEAD", fields: { "X-Upper" => "a" }))
    assert_equal [400, 1], client.await(:headers, stream: 3).then { |frame| [frame.status, frame.flags & 1] }
  end

  # A status of the static table and its table entry, a status by name, no name, and no method.
  def test_a_field_that_no_request_has_ends_no_other_request
    client = connect(server)
    head = "\x82\x84\x86\x01\x09localhost".b
    { "\x48\x03abc" => nil, "\x7e\x03200" => nil, "\x0e\x01/" => nil, "\x8d" => nil, "\x00\x07:status\x03200" => 400,
      "\x00\x00\x01a" => nil, "\x40\x00\x00" => nil, "\xbe" => nil, "\x02\x00" => nil }
      .each.with_index do |(field, status), index|
        stream = index * 2 + 1
        assert_refused(client, status, client.frame(:headers, head + field.b, flags: 5, stream: stream), stream)
      end
    assert_served(client, 19)
  end

  # The frames are cut at each byte, and the parts come in two reads: another client is served between them.
  def test_what_is_malformed_and_arrives_in_parts_ends_no_other_request
    other = server.connect
    client = connect(server)
    head = "\x82\x84\x86\x01\x09localhost".b
    request = ->(stream) { client.frame(:headers, head + "\x00\x83\xb9\x29\xcf\x00".b, flags: 5, stream: stream) }
    trailers = ->(stream) { client.frame(:headers, "\x82", flags: 5, stream: stream) }
    (1...request[1].bytesize).each do |cut|
      client.write(request[cut * 4 - 3].byteslice(0, cut)).then { other.get("/") }
      assert_refused(client, 400, request[cut * 4 - 3].byteslice(cut..), cut * 4 - 3)
      client.write(client.frame(:headers, head, flags: 4, stream: stream = cut * 4 - 1))
      client.write(trailers[stream].byteslice(0, at = 1 + cut % 9)).then { other.get("/") }
      assert_refused(client, nil, trailers[stream].byteslice(at..), stream)
    end
    assert_served(client, 201)
  end

  def test_many_malformed_requests_do_not_end_the_connection
    client = connect(server)
    (1..999).step(2) { |id| assert_refused(client, 400, client.request(id, fields: { "x" => "\1" }), id) }
    assert_served(client, 1001)
  end

  def test_headers_that_are_too_large_get_431
    client = connect(server)
    head = Support::Http2Client.block([[":method", "GET"], [":scheme", "http"], [":path", "/"], [":authority", "a"],
                                       *Array.new(6) { |index| ["x-#{index}", "x" * 12_000] }])
    first, *rest = head.scan(/.{1,16000}/mn)
    frames = [client.frame(:headers, first, flags: 1, stream: 1),
              *rest.map { |part| client.frame(:continuation, part, stream: 1) }]
    frames.last.setbyte(4, Support::Http2Client::END_HEADERS)

    assert_refused(client, 431, frames.join, 1)
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
    { data: "", priority: "\0\0\0\0\1", window_update: [1].pack("N") }.each do |kind, payload|
      client = connect(server)
      client.write(client.request(1, method: "POST", flags: 0x4))
      frame = client.frame(kind, payload, stream: 1)
      assert_equal ENHANCE_YOUR_CALM, client.flood { frame * 100 }&.error, kind
    end
  end

  def test_headers_that_never_end_end_the_connection
    client = connect(server)
    client.write(client.request(1, flags: 0))
    frame = client.frame(:continuation, "", stream: 1)

    assert_equal ENHANCE_YOUR_CALM, client.flood { frame * 100 }&.error
  end

  def test_requests_that_are_canceled_at_once_end_the_connection
    server = serve_one
    client = connect(server)
    stream = -1
    end_of_it = client.flood do
      Array.new(AT_ONCE) { [client.request(stream += 2), client.frame(:reset, [8].pack("N"), stream: stream)] }
    end

    assert_equal ENHANCE_YOUR_CALM, end_of_it&.error
    assert_logged(server, /excessive load|were reset/)
    assert_served(connect(server), 1)
  end

  def test_requests_that_are_canceled_after_they_began_end_the_connection
    server = serve_one
    client = connect(server)
    stream = -1
    end_of_it = client.flood do
      streams = Array.new(AT_ONCE) { stream += 2 }
      client.write(*streams.map { |it| client.request(it, method: "POST", flags: 0x4) }, client.frame(:ping, "x" * 8))
      seen = client.await(:ping)
      seen.kind == :ping ? streams.map { |it| client.frame(:reset, [8].pack("N"), stream: it) } : seen
    end

    assert_equal ENHANCE_YOUR_CALM, end_of_it&.error
    assert_logged(server, /too many requests were reset/)
    assert_served(connect(server), 1)
  end

  # CVE-2025-8671: the client makes the server reset the streams.
  def test_requests_that_the_server_has_to_reset_end_the_connection
    client = connect(server)
    stream = -1
    end_of_it = client.flood do
      Array.new(AT_ONCE) do
        [client.request(stream += 2, method: "POST", fields: { "content-length" => "1" }, flags: 0x4),
         client.frame(:data, "too long", stream: stream)]
      end
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
