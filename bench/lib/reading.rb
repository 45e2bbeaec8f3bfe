# frozen_string_literal: true

require "socket"
require_relative "http_client"
require_relative "pace"

module Bench
  # One GET whose answer is read at a rate, counted and thrown away.
  class Reading
    # A paced client's receive buffer: at least this and a tenth of a second, so that the kernel does not take the whole
    # answer for it.
    BUFFER_BYTES = 64 * 1024
    # A head is shorter.
    HEAD_BYTES = 1024
    HEAD_END = "\r\n\r\n"
    LAST_CHUNK = "\r\n0\r\n\r\n"

    # Monotonic times of the first and the last byte, nil before; bytes with head and framing.
    attr_reader :begun, :first, :last, :bytes

    def initialize(port, path, rate)
      @rate = rate
      @bytes = 0
      @head = "".b
      @tail = "".b
      @buffer = "".b
      @client = HttpClient.new(port)
      @client.socket.setsockopt(:SOCKET, :RCVBUF, [BUFFER_BYTES, rate / 10].max) if rate
      @begun = now
      @client.ask(path)
    end

    def socket
      @client.socket
    end

    def finished?
      !@last.nil?
    end

    # Whether the answer is 200 with a body of this size.
    def whole?(body_bytes)
      @head.start_with?("HTTP/1.1 200") && @bytes >= body_bytes && (@tail.end_with?(LAST_CHUNK) || length == body_bytes)
    end

    # Reads what the rate allows and the socket has.
    def step
      allowed = @first ? Pace.new(@rate, @first).allowance(@bytes, now) : HEAD_BYTES
      return if allowed.zero?

      case @client.socket.read_nonblock([allowed, Pace::UNLIMITED_BYTES].min, @buffer, exception: false)
      when :wait_readable then nil
      when nil then finish
      else take
      end
    rescue Errno::ECONNRESET
      finish
    end

    def close
      @client.close
    end

    private

    def take
      @first ||= now
      @bytes += @buffer.bytesize
      @head << @buffer[0, HEAD_BYTES] if @head.bytesize < HEAD_BYTES
      @tail = ending(@tail + ending(@buffer))
      finish if @tail.end_with?(LAST_CHUNK) || complete?
    end

    def ending(bytes)
      bytes.byteslice([bytes.bytesize - LAST_CHUNK.bytesize, 0].max, LAST_CHUNK.bytesize)
    end

    def complete?
      length && @bytes >= @head.index(HEAD_END) + HEAD_END.bytesize + length
    end

    # The Content-Length; nil before the whole head is there, and when it has none.
    def length
      return @length if defined?(@length) || !@head.include?(HEAD_END)

      @length = @head[/^content-length: (\d+)/i, 1]&.to_i
    end

    def finish
      @last ||= now
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
