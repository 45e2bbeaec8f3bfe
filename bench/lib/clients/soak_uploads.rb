# frozen_string_literal: true

require "digest/sha2"
require "zlib"

module Bench
  # The uploads of a SoakClient: pieces of @content, which the application answers with their digest.
  module SoakUploads
    # Bytes of a body that stays in memory, and of one that does not.
    INLINE_BYTES = (1..60_000)
    SPOOLED_BYTES = (100_000..1_000_000)
    CHUNK_BYTES = 50_000

    private

    def inline = post(piece(INLINE_BYTES))

    def spooled = post(piece(SPOOLED_BYTES))

    def decoded
      body = piece(SPOOLED_BYTES).unpack1("H*")
      post(Zlib.gzip(body, level: 1), { "Content-Encoding" => "gzip" }, of: body)
    end

    def chunked
      body = piece(SPOOLED_BYTES)
      client.request("/digest", { "Transfer-Encoding" => "chunked" }, verb: "POST")
      (0...body.bytesize).step(CHUNK_BYTES) do |offset|
        chunk = body.byteslice(offset, CHUNK_BYTES)
        client.socket.write("#{chunk.bytesize.to_s(16)}\r\n", chunk, "\r\n")
      end
      client.socket.write("0\r\n\r\n")
      digest_of(body)
    end

    def form
      file = piece(SPOOLED_BYTES)
      post(Form::OPENING.b + file + Form::CLOSING, Form::HEADERS, of: file, path: "/form")
    end

    def piece(sizes)
      size = @random.rand(sizes)
      @content.byteslice(@random.rand(@content.bytesize - size), size)
    end

    def post(body, headers = {}, of: body, path: "/digest")
      client.request(path, { "Content-Length" => body.bytesize }.merge(headers), verb: "POST")
      client.socket.write(body)
      digest_of(of)
    end

    def digest_of(body)
      response = client.response
      "status #{response.status} #{response.body[0, 80]}" unless response.body == Digest::SHA256.hexdigest(body)
    end
  end
end
