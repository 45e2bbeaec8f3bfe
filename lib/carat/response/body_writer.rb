# frozen_string_literal: true

require_relative "../native"

module Carat
  module Response
    # Sends a body piece by piece, as fast as its client reads. Two kinds of body are buffered and sent as a whole: one
    # with a short Content-Length, and one that is a single piece of that length.
    class BodyWriter
      # `native` is a Native::Slot, `head` a ResponseHead.
      def initialize(native, head)
        @native = native
        @head = head
        @pieces = []
        @declared_bytes = @missing_bytes = head.content_length.to_i
        @open = false
      end

      # Sends the headers and the buffered pieces, unless the headers have been sent.
      def open
        return if @open

        @open = @head.offer { |*plain| @native.open_stream(*plain) }
        @pieces.each { |piece| @native.write(piece) }.clear
      end

      # Sends a String, or buffers it. Raises Native::ClientGone.
      def write(piece)
        return buffer(piece) if !@open && buffers?(piece)

        open
        @native.write(piece)
      end

      # Ends the body: closes the stream, or yields the Array of buffered Strings.
      def finish
        @open ? @native.close_stream : yield(@pieces)
      end

      private

      def buffers?(piece)
        piece.bytesize <= @missing_bytes &&
          (@declared_bytes <= Native::INLINE_LIMIT || piece.bytesize == @declared_bytes)
      end

      # Copies the piece: a body may reuse its buffer.
      def buffer(piece)
        @pieces << piece.dup
        @missing_bytes -= piece.bytesize
      end
    end
  end
end
