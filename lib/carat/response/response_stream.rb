# frozen_string_literal: true

module Carat
  module Response
    # What a body that is called (Rack 3's streaming body) writes to, and reads the request's body from.
    class ResponseStream
      # `writer` is a BodyWriter, `input` the request's `rack.input`.
      def initialize(writer, input)
        @writer = writer
        @input = input
        @closed = false
      end

      # As IO#read, from the request's body.
      def read(length = nil, buffer = nil)
        @input ? @input.read(length, buffer) : (length ? nil : +"")
      end

      # Sends the Strings, and returns how many bytes they have. Raises IOError when the stream is closed and
      # Native::ClientGone, an IOError too, when nobody reads it.
      def write(*pieces)
        raise IOError, "closed stream" if @closed

        pieces.sum do |piece|
          @writer.write(piece.to_s)
          piece.to_s.bytesize
        end
      end

      # As #write, but returns the stream.
      def <<(piece)
        write(piece)
        self
      end

      # Everything has been sent already.
      def flush
        self
      end

      # Ends the body.
      def close(_error = nil)
        return if @closed

        @closed = true
        @writer.finish
      end
      alias close_write close

      # The request's body stays as it is.
      def close_read; end

      def closed?
        @closed
      end
    end
  end
end
