# frozen_string_literal: true

require "digest"
require "test_helper"

# An upload costs the same memory whatever its size: what the edge and the worker weigh (PSS) is looked at between the
# pieces of one of 115 MB, and while the application reads it.
class UploadMemoryTest < Support::IntegrationTest
  # One buffer is used again and again: with `read(65536)` Ruby itself would make 54 MB of garbage.
  APP = <<~'RUBY'
    require "digest"

    run(lambda do |env|
      digest, buffer = Digest::SHA256.new, String.new(capacity: 65_536)
      digest << buffer while env["rack.input"].read(65_536, buffer)
      [200, {}, [digest.hexdigest]]
    end)
  RUBY
  PIECE = Random.new(4).bytes(1024 * 1024).freeze
  PIECES = 115
  DIGEST = Digest::SHA256.new.tap { |digest| PIECES.times { digest << PIECE } }.hexdigest.freeze
  EDGE_KIB = 1024 + 256
  WORKER_KIB = 1024
  LOOKS_APART = 0.02

  {
    "by_length" => ["Content-Length: #{PIECES * PIECE.bytesize}", PIECE, ""],
    "in_chunks" => ["Transfer-Encoding: chunked", "#{PIECE.bytesize.to_s(16)}\r\n#{PIECE}\r\n".b, "0\r\n\r\n"]
  }.each do |framing, (field, piece, last)|
    define_method("test_115_megabytes_#{framing}_weigh_little_in_the_edge_and_in_the_worker") do
      server = serve(APP, workers: 1, threads: 1)
      warm(server)
      before = memory(server)
      client = server.connect.write("POST / HTTP/1.1\r\nHost: a\r\n#{field}\r\n\r\n")
      seen = PIECES.times.map { client.write(piece).then { memory(server) } }
      client.write(last)
      seen << memory(server) until client.socket.wait_readable(LOOKS_APART)

      assert_equal DIGEST, client.read_response.body
      edge, worker = seen.transpose.zip(before).map { |values, start| values.max - start }
      assert_operator edge, :<=, EDGE_KIB
      assert_operator worker, :<=, WORKER_KIB
    end
  end

  private

  # Afterwards the disk's thread is there, and what Ruby loads with the first request.
  def warm(server)
    3.times { server.request("POST", "/", body: PIECE) }
  end
end
