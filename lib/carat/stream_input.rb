# frozen_string_literal: true

require_relative "native"

module Carat
  # `rack.input` of a request whose body is read while it arrives. It cannot be rewound, and it ends with its request:
  # reading later raises IOError. When the body ends early, because the client is gone or was rejected, reads return
  # what has arrived and then raise IncompleteBody.
  class StreamInput < Native::Input
    # Reads as IO#read: `length` bytes, or fewer at the end of the body, or nil after it; without `length`, the rest.
    # The content of `buffer` is replaced, and the buffer becomes binary.
    def read(length = nil, buffer = nil)
      begin_read
      raise ArgumentError, "negative length #{length} given" if length&.negative?

      buffer ||= String.new
      fill(buffer, length).zero? && length&.positive? ? nil : buffer
    end

    # Reads as IO#readpartial: waits for the first byte, and returns at most `length` bytes. Raises EOFError at the end.
    def readpartial(length, buffer = nil)
      begin_read
      raise ArgumentError, "negative length #{length} given" if length.negative?

      buffer ||= String.new
      raise EOFError, "end of file reached" if fill_some(buffer, length).zero? && length.positive?

      buffer
    end

    # Returns the next line with its line feed, or nil at the end.
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

    # Whether the whole body has been read; waits for a byte or the end.
    def eof?
      check_open
      ended?
    end

    # Stops reading. What the client still sends is not read.
    def close
      @closed = true
      nil
    end

    # Whether #close was called.
    def closed?
      @closed ? true : false
    end

    # Returns itself: the body is always binary.
    def binmode
      self
    end

    # Returns true.
    def binmode?
      true
    end

    # Returns Encoding::BINARY.
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
