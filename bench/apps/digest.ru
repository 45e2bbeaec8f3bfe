# frozen_string_literal: true

require "digest"

# Responds with the SHA-256 of the body, read in pieces through one buffer. The first request allocates nothing that
# later ones do not.
PIECE_BYTES = 64 * 1024

run(lambda do |env|
  digest = Digest::SHA256.new
  buffer = String.new(capacity: PIECE_BYTES)
  digest << buffer while env["rack.input"]&.read(PIECE_BYTES, buffer)
  buffer.clear
  [200, { "content-type" => "text/plain" }, [digest.hexdigest]]
end)
