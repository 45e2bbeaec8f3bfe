# frozen_string_literal: true

require "minitest/autorun"
require "tempfile"
require_relative "../../../../bench/lib/bench"
require_relative "../one_connection"

class BenchUploadTest < Minitest::Test
  include OneConnection

  BYTES = Random.new(1).bytes((Bench::Upload::CHUNK_BYTES * 2.5).to_i)

  def test_a_body_with_a_length_arrives_complete
    head, body = upload(path: "/here")

    assert_includes head, "POST /here HTTP/1.1\r\n"
    assert_includes head, "Content-Length: #{BYTES.bytesize}\r\n"
    assert_equal BYTES, body
  end

  def test_a_chunked_body_arrives_complete
    _, body = upload(path: "/", headers: { "X-A" => "b" }, chunked: true, rate: 100_000_000)

    assert_equal BYTES, decode(body)
  end

  def test_a_server_that_goes_away_is_status_0
    upload("", path: "/")

    assert_equal [0, ""], @result.values_at(:status, :body)
  end

  private

  # Headers and body as a server gets them.
  def upload(response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", **options)
    Tempfile.create("bench-upload-") do |file|
      File.binwrite(file.path, BYTES)
      serving(->(socket) { read(socket).tap { socket.write(response) } }) do |port|
        @result = Bench::Upload.new(port, file: file.path, **options).run
      end
    end
  end

  def read(socket)
    head = socket.readline("\r\n\r\n")
    length = head[/Content-Length: (\d+)/, 1]
    return [head, socket.read(length.to_i)] if length

    body = "".b
    body << socket.readpartial(65_536) until body.end_with?("\r\n0\r\n\r\n")
    [head, body]
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
