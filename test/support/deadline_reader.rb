# frozen_string_literal: true

require "io/wait"
require_relative "eventually"

module Support
  # Reads a socket piece by piece. Each piece has a deadline, in the time of Eventually.now.
  class DeadlineReader
    READ_BYTES = 64 * 1024

    def initialize(socket)
      @socket = socket
      @buffer = +"".b
      @reset = false
    end

    # Whether the stream has ended with a reset (RST) so far.
    def reset?
      @reset
    end

    # Reads up to and including the mark.
    def read_through(mark, deadline)
      until (at = @buffer.index(mark))
        fill(deadline) or raise EOFError, "the connection ended after #{@buffer.inspect}"
      end
      take(at + mark.bytesize)
    end

    # Reads exactly this many bytes. The rest stays in the kernel, where the peer notices it.
    def read_exactly(bytes, deadline)
      while (missing = bytes - @buffer.bytesize).positive?
        fill(deadline, missing) or raise EOFError, "the connection ended #{missing} bytes too early"
      end
      take(bytes)
    end

    # Reads until the peer closes.
    def read_to_end(deadline)
      reach_end(deadline)
      take(@buffer.bytesize)
    end

    # Reads the chunks of a chunked body and its trailers; returns the joined chunks.
    def read_chunks(deadline)
      body = +"".b
      until (size = read_through("\r\n", deadline).to_i(16)).zero?
        body << read_exactly(size, deadline)
        read_through("\r\n", deadline)
      end
      nil until read_through("\r\n", deadline) == "\r\n"
      body
    end

    # Waits for the end of the stream. Bytes that come before it stay readable.
    def reach_end(deadline)
      nil while fill(deadline)
    end

    private

    def take(bytes)
      @buffer.slice!(0, bytes)
    end

    # Reads once; nil at the end of the stream. A reset counts as the end: the peer may have left sent bytes unread.
    def fill(deadline, limit = READ_BYTES)
      loop do
        bytes = @socket.read_nonblock([limit, READ_BYTES].min, exception: false)
        return bytes && (@buffer << bytes) unless bytes == :wait_readable

        wait(deadline)
      end
    rescue Errno::ECONNRESET, Errno::EPIPE
      @reset = true
      nil
    end

    def wait(deadline)
      left = deadline - Eventually.now
      return if left.positive? && @socket.wait_readable(left)

      raise Eventually::TooLate, "nothing more to read in time; unread so far: #{@buffer.inspect}"
    end
  end
end
