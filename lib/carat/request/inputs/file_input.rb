# frozen_string_literal: true

require_relative "binary_buffer"

module Carat
  module Request
    # `rack.input` of a request whose body is in an unlinked file: an ordinary, seekable File.
    class FileInput < File
      include BinaryBuffer
    end
  end
end
