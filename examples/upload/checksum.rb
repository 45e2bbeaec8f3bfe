# frozen_string_literal: true

require "digest"

# The SHA-256 of a stream, read through one buffer, so that memory does not depend on its size.
class Checksum
  PIECE_BYTES = 64 * 1024

  # @return [Integer] bytes read
  attr_reader :bytes
  # @return [String] 64 hexadecimal digits
  attr_reader :sha256

  # @param stream [#read] read to its end
  def initialize(stream)
    digest = Digest::SHA256.new
    buffer = String.new(capacity: PIECE_BYTES)
    @bytes = 0
    while stream.read(PIECE_BYTES, buffer)
      digest << buffer
      @bytes += buffer.bytesize
    end
    @sha256 = digest.hexdigest
  end
end
