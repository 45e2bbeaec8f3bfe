# frozen_string_literal: true

require_relative "native"

module Carat
  # The `rack.input` of a request whose body is read while it arrives. It cannot be rewound. It ends with the request:
  # later reads raise IOError. When the body ends early, because the client is gone or was refused, reads return what
  # has arrived and then raise IncompleteBody.
  class StreamInput < Native::Input
    # Reads as IO#read does: returns `length` bytes, fewer at the end of the body, and nil after the end; without
    # `length`, returns the rest. The content of `buffer` is replaced, and `buffer` becomes binary.
    def read(length = nil, buffer = nil)
      begin_read
      raise ArgumentError, "negative length #{length} given" if length&.negative?

      buffer ||= String.new
      fill(buffer, length).zero? && length&.positive? ? nil : buffer
    end

    # Reads as IO#readpartial does: waits for the first byte, and returns at most `length` bytes. Raises EOFError at the
    # end.
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

    # Whether the whole body has been read. Waits for the next byte or the end.
    def eof?
      check_open
      ended?
    end

    # Stops reading. What the client sends from now on is not read.
    def close
      @closed = true
      nil
    end

    # Whether #close was called.
    def closed?
      @closed ? true : false
    end

    # Returns the input itself, because the body is always binary.
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

    # Raises IOError when the input is closed. Called before each read; a subclass checks more.
    def begin_read
      check_open
    end

    def check_open
      raise IOError, "closed stream" if @closed
    end
  end
end
