# frozen_string_literal: true

require "digest"

# The SHA-256 of a stream, read in pieces through one buffer, so that its size does not matter to memory.
class Checksum
  PIECE_BYTES = 64 * 1024

  # @return [Integer] how many bytes were read
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
