# frozen_string_literal: true

require "test_helper"
require "support/http2_client"
require "support/test_certificate"
require "support/tls_client"

# What a client of HTTP/2 does wrong is logged with its address and the reason, whoever has noticed it.
class Http2RefusalsTest < Support::IntegrationTest
  Client = Support::Http2Client
  APP = 'run ->(env) { [200, {}, [env["PATH_INFO"], env["rack.input"].read]] }'
  PROTOCOL_ERROR = 1
  REFUSED_STREAM = 7

  def test_a_path_with_a_fragment_is_refused_in_each_coding_of_the_field
    server = serve_one
    client = connect(server)
    # Literal, with an indexed name, added to the table, by its index, by the name of that entry, and in Huffman code.
    paths = ["\x00\x05:path\x04/a#b", "\x04\x04/a#b", "\x44\x04/a#b", "\xbe", "\x0f\x2f\x02/#",
             "\x44\x83\x60\x7f\xf5"]
    paths.each.with_index do |path, index|
      head = "\x82\x86#{path}\x01\x09localhost".b
      client.write(client.frame(:headers, head, flags: 5, stream: index * 2 + 1))
      assert_equal 400, client.await(:headers, stream: index * 2 + 1).status, path.inspect
    end

    client.write(client.request(21, path: "/a?b", fields: { "x" => "#" }))
    assert_equal 200, client.await(:headers, stream: 21).status
    await_log(server, /127\.0\.0\.1 .* 400 .*reason="malformed request target"/)
  end

  def test_a_fragment_in_a_continued_and_padded_block_is_refused
    client = connect(serve_one)
    block = "\x82\x86\x44\x04/a#b\x01\x09localhost".b
    client.write(client.frame(:headers, "\x02#{block[0, 6]}##", flags: 0x9, stream: 1),
                 client.frame(:continuation, block[6..], flags: 4, stream: 1))

    assert_equal 400, client.await(:headers, stream: 1).status
  end

  def test_requests_that_are_reset_are_logged
    server = serve_one("--http2-max-streams", "1")
    client = connect(server)
    client.write(client.request(1, method: "POST", fields: { "content-length" => "1" }, flags: 4),
                 client.frame(:data, "too long", flags: 1, stream: 1))
    assert_equal PROTOCOL_ERROR, client.await(:reset).error
    await_reset(server, "unspecific protocol error detected")

    client.write(client.request(3, method: "POST", flags: 4), client.request(5))
    assert_equal [5, REFUSED_STREAM], client.await(:reset).then { |reset| [reset.stream, reset.error] }
    await_reset(server, "refused stream before processing any application logic")
  end

  def test_headers_that_are_too_large_are_logged
    server = serve_one("--max-header-bytes", "10000")
    client = connect(server)
    client.write(client.request(1, fields: { "x" => "x" * 12_000 }))

    assert_equal 431, client.await(:headers, stream: 1).status
    await_log(server, /127\.0\.0\.1 - - .* 431 .*reason="header is too large"/)
  end

  def test_malformed_frames_are_logged
    [[:data, "x", 0], [:ping, "short", 0], [:headers, "\xff\xff\xff", 1], [:continuation, "", 1]]
      .each do |kind, payload, stream|
        client = connect(server = serve_one)
        client.write(client.frame(kind, payload, flags: 4, stream: stream))
        assert_predicate client.await(:go_away)&.error, :positive?, kind
        await_end(server, "unspecific protocol error")
      end
  end

  def test_a_client_that_chose_http2_and_speaks_something_else_is_logged
    certificate = Support::TestCertificate.new("localhost")
    server = serve(APP, workers: 1, threads: 1, files: certificate.files,
                        binds: ["tls://127.0.0.1:0?cert=server.crt&key=server.key"])
    trust = certificate.certificate
    client = Support::TlsClient.connect(server, trust: trust) { |context| context.alpn_protocols = ["h2"] }
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")

    refute_match(/200/, client.read_to_end)
    await_end(server, "unspecific protocol error")
  end

  private

  def serve_one(*args)
    serve(APP, workers: 1, threads: 2, args: ["--access-log", *args])
  end

  def connect(server)
    Client.new(server.connect, settings: { Client::HEADER_TABLE_SIZE => 0 })
  end

  def await_reset(server, reason)
    await_log(server, /warn HTTP.2 requests reset clients=\d+ last=127\.0\.0\.1 reason=.*#{reason}/)
  end

  def await_end(server, reason)
    await_log(server, /warn HTTP.2 connections ended clients=\d+ last=(127\.0\.0\.1|::1) reason=.*#{reason}/)
  end
end
