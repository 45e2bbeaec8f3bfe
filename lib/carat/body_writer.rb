# frozen_string_literal: true

module Carat
  # Sends a body piece by piece, at the pace of its client; one that is declared to be short, in one go at its end.
  class BodyWriter
    # Bodies up to this many bytes are short.
    SHORT_LIMIT = 64 * 1024

    # `native` is a Native::Lane, `head` a ResponseHead.
    def initialize(native, head)
      @native = native
      @head = head
      @pieces = []
      declared_bytes = head.content_length.to_i
      @missing_bytes = declared_bytes <= SHORT_LIMIT ? declared_bytes : 0
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
      return gather(piece) if !@open && piece.bytesize <= @missing_bytes

      open
      @native.write(piece)
    end

    # Ends the body.
    def finish
      @open ? @native.close_stream : @head.offer { |*plain| @native.answer(*plain, @pieces) }
    end

    private

    # Bodies may fill one buffer again and again.
    def gather(piece)
      @pieces << piece.dup
      @missing_bytes -= piece.bytesize
    end
  end
end
