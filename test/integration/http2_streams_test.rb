# frozen_string_literal: true

require "digest"
require "test_helper"

# Bodies in both directions, refusals, and the end of connections over HTTP/2, frame by frame.
class Http2StreamsTest < Support::IntegrationTest
  Client = Support::Http2Client
  NO_END = Client::END_HEADERS
  END_STREAM = Client::END_STREAM
  # Bytes that a client may send before they are consumed.
  WINDOW = 128 * 1024
  # /skip responds without reading, /gate waits until the gate is open; both then digest.
  DIGEST_APP = <<~'RUBY'
    require "digest"
    run(lambda do |env|
      path = env["PATH_INFO"]
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{path} #{Process.pid}\n", mode: "a")
      sleep 0.005 until !path.start_with?("/gate") || File.exist?("gate")
      [200, {}, [path == "/skip" ? "skipped" : Digest::SHA256.hexdigest(env["rack.input"].read)]]
    end)
  RUBY
  # Notes how many pieces of 64 KiB it has passed on.
  PIECES_APP = <<~'RUBY'
    class Pieces
      def each
        100.times do |index|
          yield "x" * 65_536
          File.write("passed", (index + 1).to_s)
        end
      end
    end
    run ->(env) { [200, {}, env["PATH_INFO"] == "/" ? ["hello"] : Pieces.new] }
  RUBY

  def test_the_window_of_a_body_opens_as_the_application_reads
    server = serve(DIGEST_APP, workers: 1, threads: 2, args: %w[--request-body stream])
    client = connect(server)
    client.write(client.request(1, method: "POST", path: "/gate", flags: NO_END), *data(client, "x" * WINDOW))
    await_arrivals(server, 1)
    assert_equal 0, window_updates(client, stream: 1)

    server.gate.open
    assert_operator eventually(message: "an open window") { window_updates(client, stream: 1).nonzero? }, :<=, WINDOW
    client.write(client.frame(:data, "end", flags: END_STREAM, stream: 1))
    assert_equal Digest::SHA256.hexdigest("#{"x" * WINDOW}end"), client.await(:data, stream: 1).payload
  end

  def test_a_body_that_is_not_read_holds_up_no_other
    server = serve(DIGEST_APP, workers: 1, threads: 21, args: %w[--request-body stream])
    client = connect(server)
    20.times do |index|
      stream = index * 2 + 1
      client.write(client.request(stream, method: "POST", path: "/gate", flags: NO_END),
                   *data(client, "x" * WINDOW, stream: stream))
    end
    client.write(client.request(41, method: "POST", path: "/skip", flags: NO_END))

    assert_equal "skipped", client.await(:data, stream: 41).payload
    assert_equal 0, client.await(:reset, stream: 41).error
  end

  def test_a_response_is_produced_as_fast_as_the_client_reads
    server = serve(PIECES_APP, workers: 1, threads: 2)
    client = connect(server)
    client.write(client.request(1, path: "/pieces"))
    received = 0
    received += client.await(:data).payload.bytesize while received < 65_535
    client.write(client.request(3))
    assert_equal 200, client.await(:headers, stream: 3).status
    assert_operator passed(server), :<, 20

    client.write(client.frame(:window_update, [0x7000_0000].pack("N")),
                 client.frame(:window_update, [0x7000_0000].pack("N"), stream: 1))
    until (frame = client.await(:data)).stream == 1 && frame.end_stream?
      received += frame.payload.bytesize if frame.stream == 1
    end
    assert_equal 100, passed(server)
    assert_equal 6_553_600, received
  end

  def test_a_body_that_is_too_large_is_refused_before_it_arrives
    client = connect(serve(DIGEST_APP, workers: 1, threads: 1, args: %w[--max-body 100]))
    client.write(client.request(1, method: "POST", fields: { "content-length" => "101" }, flags: NO_END))
    assert_equal 413, client.await(:headers, stream: 1).status

    client.write(client.request(3, method: "POST", flags: NO_END), client.frame(:data, "x" * 101, stream: 3))
    assert_equal 413, client.await(:headers, stream: 3).status
    client.write(client.request(5))
    assert_equal 200, client.await(:headers, stream: 5).status
  end

  def test_a_client_that_waits_is_asked_for_its_body
    client = connect(serve(DIGEST_APP, workers: 1, threads: 1))
    client.write(client.request(1, method: "POST", fields: { "expect" => "100-continue" }, flags: NO_END))
    assert_equal 100, client.await(:headers).status

    client.write(client.frame(:data, "body", flags: END_STREAM, stream: 1))
    assert_equal 200, client.await(:headers).status
    assert_equal Digest::SHA256.hexdigest("body"), client.await(:data).payload
  end

  def test_trailers_are_dropped
    client = connect(serve("run ->(env) { [200, {}, [env.key?('HTTP_X_LATE').inspect + env['rack.input'].read]] }",
                           workers: 1, threads: 1))
    client.write(client.request(1, method: "POST", flags: NO_END), client.frame(:data, "body", stream: 1),
                 client.frame(:headers, Client.block([%w[x-late 1]]), flags: NO_END | END_STREAM, stream: 1))

    assert_equal "falsebody", client.await(:data).payload
  end

  def test_a_stopping_server_finishes_what_it_has_begun
    server = serve(DIGEST_APP, workers: 1, threads: 1)
    idle = connect(server)
    assert_equal 200, idle.write(idle.request(1)).await(:headers).status
    busy = connect(server)
    busy.write(busy.request(1, path: "/gate"))
    await_arrivals(server, 2)

    server.kill(:TERM)
    [idle, busy].each { |client| assert_equal 0, client.await(:go_away).error }
    server.gate.open
    assert_equal 200, busy.await(:headers, stream: 1).status
    assert_equal 0, server.wait.exitstatus
  end

  def test_a_server_that_turns_clients_away_says_so_after_the_response
    server = serve(DIGEST_APP, workers: 1, threads: 1, args: %w[--drain-delay 1h])
    client = connect(server)
    assert_equal 200, client.write(client.request(1)).await(:headers).status
    server.kill(:TERM)
    await_log(server, /draining/)

    assert_equal 200, client.write(client.request(3)).await(:headers, stream: 3).status
    assert_equal 0, client.await(:go_away).error
    assert_equal 200, server.get.status
    eventually(message: "the stop") { server.log.include?(" stopping ") || (server.kill(:TERM) && false) }
  end

  def test_files_and_codings_are_as_over_http_1
    app = 'run ->(_) { [200, { "content-type" => "text/plain" }, ["hello " * 1000]] }'
    server = serve(app, workers: 1, threads: 1, files: { "public/a.txt" => "0123456789" * 1000 },
                        args: %w[--compress --static public])
    url = "http://127.0.0.1:#{server.port}"
    part = get(url, "/a.txt", "-H", "Range: bytes=10-14")
    packed = get(url, "/", "-H", "Accept-Encoding: gzip", "--compressed")

    assert_equal [206, "01234", "bytes 10-14/10000"], [part.status, part.body, part["content-range"]]
    assert_equal ["hello " * 1000, "gzip"], [packed.body, packed["content-encoding"]]
    assert_equal "0123456789" * 1000, get(url, "/a.txt").body
  end

  private

  def connect(server, **options)
    Client.new(server.connect, **options).take_settings
  end

  def get(url, path, *options)
    Support::Curl.get("#{url}#{path}", "--http2-prior-knowledge", *options)
  end

  # Frames with these bytes.
  def data(client, bytes, stream: 1)
    bytes.scan(/.{1,16384}/mn).map { |part| client.frame(:data, part, stream: stream) }
  end

  # By how much the server has opened the window of a stream, up to now.
  def window_updates(client, stream:)
    client.write(client.frame(:ping, "x" * 8))
    opened = 0
    while (frame = client.await(:window_update, :ping)).kind == :window_update
      opened += frame.payload.unpack1("N") if frame.stream == stream
    end
    opened
  end

  def passed(server)
    server.directory.read("passed").to_i
  end
end
