# frozen_string_literal: true

require "stringio"

module Carat
  module Request
    # Makes the buffer that is passed to `read` binary, like the bytes that are read into it. Ruby itself keeps the
    # buffer's encoding, and the length of a UTF-8 buffer is a number of characters, not of bytes (puma/puma#3145).
    module BinaryBuffer
      # Reads as IO#read does.
      def read(length = nil, buffer = nil)
        buffer ? super(length, buffer.force_encoding(Encoding::BINARY)) : super(length)
      end
    end

    # The `rack.input` of a request whose body is in memory.
    class MemoryInput < StringIO
      include BinaryBuffer
    end

    # The `rack.input` of a request whose body is in an unlinked file: an ordinary File that can seek.
    class FileInput < File
      include BinaryBuffer
    end
  end
end
