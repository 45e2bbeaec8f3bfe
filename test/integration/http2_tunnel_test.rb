# frozen_string_literal: true

require "test_helper"

# Connections that the application takes over, on streams of HTTP/2 (RFC 8441).
class Http2TunnelTest < Support::IntegrationTest
  Client = Support::Http2Client
  ENABLE_CONNECT_PROTOCOL = 8
  CANCEL = 8
  PROTOCOL_ERROR = 1
  # What each path does with its socket; partial hijacks and streaming bodies have a status that Carat sends.
  APP = <<~'RUBY'
    echo = lambda do |io|
      while (line = io.gets)
        io.write("echo #{line}")
      end
      io.write("bye")
    rescue SystemCallError, IOError => e
      $stderr.puts("the tunnel broke: #{e.class}")
    ensure
      io.close
      $stderr.puts("the tunnel ended")
    end
    raw = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\nX-Own: 1\r\n\r\n"
    full = {
      "/full" => ->(io) { io.write(raw, "first\n") && echo.call(io) },
      "/pieces" => ->(io) { raw.each_char { |char| io.write(char) } && io.write("x") && io.close },
      "/refuse" => ->(io) { io.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno") && io.close },
      "/nonsense" => ->(io) { io.write("220 hello\r\n\r\n") && io.close },
      "/endless" => ->(io) { io.write("HTTP/1.1 101 A\r\nX: #{"x" * 20_000}") && io.close },
      "/flood" => lambda do |io|
        io.write(raw)
        sent = 0
        sent += io.write_nonblock("x" * 65_536) while io.wait_writable(1)
        File.write("flooded", sent)
        io.close
      end,
      "/deaf" => ->(io) { io.write(raw) && sleep }
    }
    run(lambda do |env|
      path = env["PATH_INFO"]
      if (take = full[path])
        io = env["rack.hijack"].call
        Thread.new { take.call(io) }
        next [-1, {}, []]
      end
      case path
      when "/switch" then [101, { "upgrade" => "echo", "connection" => "upgrade" }, ->(io) { Thread.new { echo.call(io) } }]
      when "/rack3" then [200, { "rack.protocol" => "websocket" }, ->(io) { Thread.new { echo.call(io) } }]
      when "/refuse-plainly" then [403, { "content-type" => "text/plain" }, ["forbidden"]]
      when "/env"
        keys = %w[REQUEST_METHOD SERVER_PROTOCOL HTTP_CONNECTION HTTP_UPGRADE HTTP_SEC_WEBSOCKET_KEY rack.protocol rack.hijack?]
        [404, {}, [env.values_at(*keys).inspect]]
      else [200, {}, ["plain"]]
      end
    end)
  RUBY

  def test_without_tunnels_the_server_does_not_offer_it
    server = serve_one("--max-tunnels", "0")
    assert_nil settings(server)[ENABLE_CONNECT_PROTOCOL]
    assert_equal PROTOCOL_ERROR, ask(connect(server), "/full").error
  end

  def test_the_application_sees_an_upgrade
    client = connect(serve_one)
    assert_equal 404, ask(client, "/env").status

    assert_match(%r{\A\["GET", "HTTP/2", "Upgrade", "websocket", "[\w+/]{22}==", (nil|\["websocket"\]), true\]\z},
                 client.await(:data).payload)
    client.write(client.request(3, path: "/env"))
    assert_equal '["GET", "HTTP/2", nil, nil, nil, nil, false]', client.await(:data, stream: 3).payload
  end

  def test_a_full_hijack_becomes_a_tunnel
    server = serve_one("--access-log")
    client = connect(server)
    assert_equal 200, ask(client, "/full").status

    assert_equal "first\n", client.await(:data).payload
    client.write(client.frame(:data, "hello\n", stream: 1))
    assert_equal "echo hello\n", client.await(:data).payload
    client.write(client.frame(:data, "", flags: Client::END_STREAM, stream: 1))
    assert_equal "bye", client.await(:data).payload
    assert_predicate client.await(:data), :end_stream?
    await_log(server, %r{"GET /full HTTP/2\.0" 200 20 })
  end

  def test_what_the_client_sends_before_the_response_is_not_lost
    client = connect(serve_one)
    %w[/switch /rack3].each.with_index do |path, index|
      stream = index * 2 + 1
      client.write(extended_connect(client, path, stream: stream), client.frame(:data, "early\n", stream: stream))
      assert_equal 200, client.await(:headers, stream: stream).status
      assert_equal "echo early\n", client.await(:data, stream: stream).payload
    end
  end

  def test_a_status_and_headers_that_come_in_pieces
    client = connect(serve_one)
    assert_equal 200, ask(client, "/pieces").status

    assert_equal "x", client.await(:data).payload
    assert_predicate client.await(:data), :end_stream?
  end

  def test_what_opens_no_tunnel_is_a_response
    client = connect(serve_one)
    { "/refuse-plainly" => 403, "/" => 501, "/refuse" => 403 }.each.with_index do |(path, status), index|
      assert_equal status, ask(client, path, stream: index * 2 + 1).status, path
    end
    client.write(client.request(21))
    assert_equal "plain", client.await(:data, stream: 21).payload
  end

  def test_a_response_of_the_application_that_is_none_resets_the_stream
    server = serve_one
    client = connect(server)
    %w[/nonsense /endless].each.with_index do |path, index|
      client.write(extended_connect(client, path, stream: index * 2 + 1))
      assert_equal CANCEL, client.await(:headers, :reset, stream: index * 2 + 1).error, path
    end
    eventually { server.log.scan("tunnel not opened").size == 2 }
  end

  def test_protocols_that_are_none_are_refused
    client = connect(serve_one)
    { "a b" => 501, "" => 501, "a/b/c" => 501, "connect-tcp/1" => 200 }.each.with_index do |(protocol, status), index|
      stream = index * 2 + 1
      client.write(extended_connect(client, "/switch", stream: stream, protocol: protocol))
      assert_equal status, client.await(:headers, stream: stream).status, protocol
    end
  end

  def test_a_client_that_resets_its_stream_ends_the_tunnel_and_no_other
    server = serve_one
    client = connect(server)
    [1, 3].each { |stream| assert_equal 200, ask(client, "/switch", stream: stream).status }
    client.write(client.frame(:reset, [CANCEL].pack("N"), stream: 1))

    await_log(server, /the tunnel ended/)
    client.write(client.frame(:data, "still\n", stream: 3))
    assert_equal "echo still\n", client.await(:data, stream: 3).payload
  end

  def test_a_client_that_opens_no_window_holds_the_application_up
    server = serve_one
    client = connect(server)
    assert_equal 200, ask(client, "/flood").status
    sent = Integer(eventually { server.directory.read("flooded")[/.+/] })

    assert_operator sent, :<, 4 * 1024 * 1024
    assert_equal "plain", server.get.body
    assert_equal sent, open_window(client, sent)
  end

  def test_a_client_that_never_reads_has_the_write_timeout
    server = serve(APP, workers: 1, threads: 2, args: %w[--write-timeout 1])
    client = connect(server)
    assert_equal 200, ask(client, "/flood").status

    assert_equal CANCEL, client.await(:reset, stream: 1).error
    client.write(client.request(3))
    assert_equal 200, client.await(:headers, stream: 3).status
  end

  def test_an_application_that_does_not_read_holds_the_client_up
    client = connect(serve_one)
    assert_equal 200, ask(client, "/deaf").status
    opened = 128 * 1024
    # Once its window is used up, nothing opens it: the answer to a PING comes after any update.
    until opened.zero?
      count = [opened, 16_384].min
      client.write(client.frame(:data, "x" * count, stream: 1))
      opened = opened - count + updates(client)
    end
    assert_equal 0, updates(client)
  end

  def test_each_short_message_allows_window_updates
    client = connect(serve_one)
    assert_equal 200, ask(client, "/switch").status
    update = [5].pack("N")
    updates = [0, 1].map { |stream| client.frame(:window_update, update, stream: stream) }
    3000.times do |number|
      client.write(client.frame(:data, "\n", stream: 1))
      frame = client.await(:data)
      break flunk("after #{number} messages: #{frame.inspect}") unless frame&.kind == :data

      client.write(*updates)
    end
  end

  def test_a_worker_that_ends_takes_its_tunnels_along
    server = serve(APP, workers: 1, threads: 2, args: %w[--tunnel-timeout 200ms])
    client = connect(server)
    assert_equal 200, ask(client, "/switch").status
    server.kill(:USR1)

    assert_predicate client.await(:data, stream: 1), :end_stream?
    client.write(client.request(3))
    assert_equal 200, client.await(:headers, stream: 3).status
  end

  private

  def serve_one(*args)
    serve(APP, workers: 1, threads: 2, args: args)
  end

  def connect(server)
    Client.new(server.connect).take_settings
  end

  def settings(server)
    client = Client.new(server.connect)
    client.read.payload.scan(/.{6}/mn).to_h { |setting| setting.unpack("nN") }
  end

  def extended_connect(client, path, stream: 1, protocol: "websocket")
    client.request(stream, method: "CONNECT", path: path, protocol: protocol, flags: Client::END_HEADERS)
  end

  # Returns the headers of the response.
  def ask(client, path, stream: 1)
    client.write(extended_connect(client, path, stream: stream))
    client.await(:headers, :reset, stream: stream)
  end

  # Bytes that the server lets the client send in addition.
  def updates(client)
    client.write(client.frame(:ping, "finished"))
    bytes = 0
    until (frame = client.await(:ping, :window_update)).kind == :ping
      bytes += frame.payload.unpack1("N") if frame.stream == 1
    end
    bytes
  end

  # Lets the server send, and returns how much it has sent until the end.
  def open_window(client, bytes)
    update = [bytes].pack("N")
    client.write(client.frame(:window_update, update), client.frame(:window_update, update, stream: 1))
    received = 0
    until (frame = client.await(:data, stream: 1)).end_stream?
      received += frame.payload.bytesize
    end
    received + frame.payload.bytesize
  end
end
