# frozen_string_literal: true

require "digest"
require "minitest/autorun"
require "tempfile"
require_relative "../../../bench/lib/upload"

class BenchUploadTest < Minitest::Test
  BYTES = Random.new(1).bytes((Bench::Upload::CHUNK_BYTES * 2.5).to_i)

  def test_a_body_with_a_length_arrives_whole
    head, body = received { |port, path| Bench::Upload.new(port, path: "/here", file: path).run }

    assert_includes head, "POST /here HTTP/1.1\r\n"
    assert_includes head, "Content-Length: #{BYTES.bytesize}\r\n"
    assert_equal BYTES, body
  end

  def test_a_chunked_body_arrives_whole
    _, body = received do |port, path|
      Bench::Upload.new(port, path: "/", file: path, headers: { "X-A" => "b" }, chunked: true, rate: 100_000_000).run
    end

    assert_equal BYTES, decode(body)
  end

  def test_a_server_that_goes_away_is_told
    outcome = nil
    received(answer: "") { |port, path| outcome = Bench::Upload.new(port, path: "/", file: path).run }

    assert_equal [0, ""], outcome.values_at(:status, :body)
  end

  private

  # Head and body of what the block sends to a server that reads until nothing has come for a while.
  def received(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    listener = TCPServer.new("127.0.0.1", 0)
    served = Thread.new { serve(listener, answer) }
    Tempfile.create("bench-upload-") do |file|
      File.binwrite(file.path, BYTES)
      yield listener.addr[1], file.path
    end
    served.value
  ensure
    listener.close
  end

  def serve(listener, answer)
    socket = listener.accept
    head = socket.readline("\r\n\r\n")
    body = read(socket, head)
    socket.write(answer)
    socket.close
    [head, body]
  end

  def read(socket, head)
    return socket.read(head[/Content-Length: (\d+)/, 1].to_i) if head.include?("Content-Length")

    body = "".b
    body << socket.readpartial(65_536) until body.end_with?("\r\n0\r\n\r\n")
    body
  end

  def decode(body)
    decoded = "".b
    until body.start_with?("0\r\n")
      size, body = body.split("\r\n", 2)
      decoded << body.byteslice(0, size.to_i(16))
      body = body.byteslice((size.to_i(16) + 2)..)
    end
    decoded
  end
end
