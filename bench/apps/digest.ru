# frozen_string_literal: true

require "digest"

# Answers a body's SHA-256, read in pieces through one buffer. The first request makes nothing that the second does
# not make.
PIECE_BYTES = 64 * 1024

run(lambda do |env|
  digest = Digest::SHA256.new
  buffer = String.new(capacity: PIECE_BYTES)
  digest << buffer while env["rack.input"].read(PIECE_BYTES, buffer)
  buffer.clear
  [200, { "content-type" => "text/plain" }, [digest.hexdigest]]
end)
