# frozen_string_literal: true

require "socket"
require "test_helper"
require "support/differential/haproxy"

# What a client of HTTP/2 does wrong is logged with its address and the reason, whoever has noticed it.
class Http2RefusalsTest < Support::IntegrationTest
  Client = Support::Http2Client
  APP = 'run ->(env) { [200, {}, [env["PATH_INFO"], env["rack.input"].read]] }'
  # /hold is answered when the file `go` exists.
  HOLDING = <<~'RUBY'
    run(lambda do |env|
      if env["PATH_INFO"] == "/hold"
        File.write("held", "x\n", mode: "a")
        sleep 0.005 until File.exist?("go")
      end
      [200, {}, ["ok"]]
    end)
  RUBY
  PROTOCOL_ERROR = 1
  REFUSED_STREAM = 7

  def test_a_malformed_field_is_logged
    server = serve_one
    client = connect(server)
    client.write(client.request(1, fields: { "x" => "a\1b" }))
    assert_equal 400, client.await(:headers, stream: 1).status
    await_log(server, /127\.0\.0\.1 .* 400 .*reason="[^"]*control character in it"/)
  end

  # HAProxy that sends the requests of all clients over one connection, also those that it would refuse itself.
  class SharingHAProxy < Support::Differential::HAProxy
    private

    def configuration
      lenient = super.sub("default_backend", "option accept-invalid-http-request\n  default_backend")
      lenient.sub(/server carat .*/, '\0 proto h2')
    end
  end

  def test_behind_haproxy_a_malformed_request_ends_no_other_one
    skip SharingHAProxy.obstacle if SharingHAProxy.obstacle
    carat = serve(HOLDING, workers: 1, threads: 4)
    front = SharingHAProxy.new(carat.port).start
    clients = Array.new(6) { Support::RawClient.new(TCPSocket.new("127.0.0.1", front.port)) }
    held = clients.first(3).each { |client| client.request("GET", "/hold") }
    eventually { carat.directory.read("held").lines.size == 3 }
    # HAProxy 3 closes the connection of a client behind such a response.
    clients.last(3).zip(["X: a\1b", "X{: a", "X: \x7f"]) do |client, field|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n#{field}\r\n\r\n")
      assert_equal 400, client.read_response.status, field.inspect
    end
    carat.directory.write("go", "")

    assert_equal([200] * 3, held.map { |client| client.read_response.status })
    refute_match(/HTTP.2 connections ended/, carat.log)
  ensure
    clients&.each(&:close)
    front&.destroy
  end

  # As nginx does it.
  def test_a_fragment_is_dropped
    client = connect(serve_one)
    client.write(client.request(1, path: "/a#b"))
    assert_equal 200, client.await(:headers, stream: 1).status
    assert_equal "/a", client.await(:data, stream: 1).payload
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

  def test_malformed_frames_are_logged
    [[:data, "x", 0, "unspecific"], [:ping, "short", 0, "frame of a wrong size"], [:continuation, "", 1, "unspecific"],
     [:headers, "\xff\xff\xff", 1, "malformed header block"]]
      .each do |kind, payload, stream, reason|
        client = connect(server = serve_one)
        client.write(client.frame(kind, payload, flags: 4, stream: stream))
        assert_predicate client.await(:go_away)&.error, :positive?, kind
        await_end(server, reason)
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
