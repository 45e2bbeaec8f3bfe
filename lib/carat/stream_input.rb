# frozen_string_literal: true

require_relative "native"

module Carat
  # `rack.input` of a request whose body is read while it arrives. It cannot be rewound, and it ends with its request:
  # reading later raises IOError. When the body breaks off, because the client has gone or was refused, every read
  # raises IncompleteBody once what came before has been read.
  class StreamInput < Native::Input
    # As IO#read: `length` bytes, fewer only at the end, where it returns nil; without `length` everything. What
    # `buffer` holds is replaced, and the buffer becomes binary.
    def read(length = nil, buffer = nil)
      begin_read
      raise ArgumentError, "negative length #{length} given" if length&.negative?

      buffer ||= String.new
      fill(buffer, length).zero? && length&.positive? ? nil : buffer
    end

    # As IO#readpartial: waits for a byte, and returns what is there then. Raises EOFError at the end.
    def readpartial(length, buffer = nil)
      begin_read
      raise ArgumentError, "negative length #{length} given" if length.negative?

      buffer ||= String.new
      raise EOFError, "end of file reached" if fill_some(buffer, length).zero? && length.positive?

      buffer
    end

    # Returns the next line with its line feed; nil at the end.
    def gets
      begin_read
      line = String.new
      line unless fill_line(line).zero?
    end

    # Yields each line.
    def each
      return to_enum unless block_given?

      while (line = gets)
        yield line
      end
      self
    end

    # Whether everything has been read; waits for a byte, or the end.
    def eof?
      check_open
      ended?
    end

    # Nothing more is read. What the client still sends is left where it is.
    def close
      @closed = true
      nil
    end

    def closed?
      @closed ? true : false
    end

    def binmode
      self
    end

    def binmode?
      true
    end

    def external_encoding
      Encoding::BINARY
    end

    private

    # Called before each read.
    def begin_read
      check_open
    end

    def check_open
      raise IOError, "closed stream" if @closed
    end
  end
end
