# frozen_string_literal: true

module Carat
  module Response
    # Sends a body piece by piece, at the pace of its client. A body that is declared to be short, or that comes in a
    # single piece of the declared length, is gathered instead and leaves as a whole.
    class BodyWriter
      # Bodies up to this many bytes are short.
      SHORT_LIMIT = 64 * 1024

      # `native` is a Native::Lane, `head` a ResponseHead.
      def initialize(native, head)
        @native = native
        @head = head
        @pieces = []
        @declared_bytes = @missing_bytes = head.content_length.to_i
        @open = false
      end

      # Sends the head, if that has not happened, and what was gathered.
      def open
        return if @open

        @open = @head.offer { |*plain| @native.open_stream(*plain) }
        @pieces.each { |piece| @native.write(piece) }.clear
      end

      # Sends a String. Raises Native::ClientGone.
      def write(piece)
        return gather(piece) if !@open && gathers?(piece)

        open
        @native.write(piece)
      end

      # Ends the body: closes the stream, or yields the Array of Strings that was gathered instead of streamed.
      def finish
        @open ? @native.close_stream : yield(@pieces)
      end

      private

      def gathers?(piece)
        piece.bytesize <= @missing_bytes &&
          (@declared_bytes <= SHORT_LIMIT || piece.bytesize == @declared_bytes)
      end

      # Bodies may fill one buffer again and again.
      def gather(piece)
        @pieces << piece.dup
        @missing_bytes -= piece.bytesize
      end
    end
  end
end
