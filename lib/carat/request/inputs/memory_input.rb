# frozen_string_literal: true

require "stringio"

module Carat
  module Request
    # Makes the buffer of `read` binary, like the bytes that are read into it. Ruby itself keeps the encoding of the
    # buffer, and the length of a UTF-8 buffer counts characters rather than bytes (puma/puma#3145).
    module BinaryBuffer
      # Reads as IO#read.
      def read(length = nil, buffer = nil)
        buffer ? super(length, buffer.force_encoding(Encoding::BINARY)) : super(length)
      end
    end

    # `rack.input` of a request whose body fits into memory.
    class MemoryInput < StringIO
      include BinaryBuffer
    end

    # `rack.input` of a request whose body is in an unlinked file: an ordinary, seekable File.
    class FileInput < File
      include BinaryBuffer
    end
  end
end
