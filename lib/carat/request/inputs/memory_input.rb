# frozen_string_literal: true

require "stringio"
require_relative "binary_buffer"

module Carat
  module Request
    # `rack.input` of a request whose body fits into memory.
    class MemoryInput < StringIO
      include BinaryBuffer
    end
  end
end
