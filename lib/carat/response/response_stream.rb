# frozen_string_literal: true

module Carat
  module Response
    # The stream that Rack 3 passes to a streaming body. It writes the response, and reads the body of the request.
    class ResponseStream
      # `writer` is a BodyWriter, `input` the request's `rack.input`.
      def initialize(writer, input)
        @writer = writer
        @input = input
        @closed = false
      end

      # Reads the body of the request as IO#read does.
      def read(length = nil, buffer = nil)
        @input ? @input.read(length, buffer) : (length ? nil : +"")
      end

      # Sends the Strings and returns their size in bytes. Raises IOError when the stream is closed, and
      # Native::ClientGone, an Errno::EPIPE, when the client is gone.
      def write(*pieces)
        raise IOError, "closed stream" if @closed

        pieces.sum do |piece|
          @writer.write(piece.to_s)
          piece.to_s.bytesize
        end
      end

      # Sends the String as #write does, and returns the stream.
      def <<(piece)
        write(piece)
        self
      end

      # Does nothing: #write has sent everything.
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

      # Does nothing: the body of the request stays open.
      def close_read; end

      def closed?
        @closed
      end
    end
  end
end
