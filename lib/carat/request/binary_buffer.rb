# frozen_string_literal: true

module Carat
  module Request
    # Makes the buffer that is handed to `read` binary, as the bytes that are read into it are. Ruby leaves a buffer's
    # encoding alone, and a UTF-8 buffer counts characters where its user means bytes (puma/puma#3145).
    module BinaryBuffer
      # As IO#read.
      def read(length = nil, buffer = nil)
        buffer ? super(length, buffer.force_encoding(Encoding::BINARY)) : super(length)
      end
    end
  end
end
