# frozen_string_literal: true

module Bench
  # One GET whose response is read at a rate, counted, and dropped.
  class PacedGet
    # The least receive buffer of a paced client, or a tenth of a second: the kernel must not take the response for it.
    BUFFER_BYTES = 64 * 1024
    # Headers are shorter.
    HEAD_BYTES = 1024
    HEAD_END = "\r\n\r\n"
    LAST_CHUNK = "\r\n0\r\n\r\n"

    # Monotonic times of the first and the last byte, nil before; bytes with headers and framing.
    attr_reader :started, :first, :last, :bytes

    def initialize(port, path, rate)
      @rate = rate
      @bytes = 0
      @head, @tail, @buffer = Array.new(3) { "".b }
      @client = HttpClient.new(port)
      socket.setsockopt(:SOCKET, :RCVBUF, [BUFFER_BYTES, rate / 10].max) if rate
      @started = Bench.now
      @client.request(path)
    end

    def socket = @client.socket

    def finished? = !@last.nil?

    # Whether the response is 200 with a body of this size.
    def complete?(body_bytes)
      return false unless @head.start_with?("HTTP/1.1 200") && @bytes >= body_bytes

      length ? length == body_bytes && all_there? : @tail.end_with?(LAST_CHUNK)
    end

    # Reads what the rate allows and the socket has.
    def step
      allowed = @first ? Pace.new(@rate, @first).allowance(@bytes, Bench.now) : HEAD_BYTES
      return if allowed.zero?

      case socket.read_nonblock([allowed, Pace::UNLIMITED_BYTES].min, @buffer, exception: false)
      when :wait_readable then nil
      when nil then finish
      else take
      end
    rescue Errno::ECONNRESET
      finish
    end

    def close = @client.close

    private

    def take
      @first ||= Bench.now
      @bytes += @buffer.bytesize
      @head << @buffer[0, HEAD_BYTES] if @head.bytesize < HEAD_BYTES
      @tail = ending(@tail + ending(@buffer))
      finish if @tail.end_with?(LAST_CHUNK) || all_there?
    end

    def ending(bytes) = bytes.byteslice([bytes.bytesize - LAST_CHUNK.bytesize, 0].max, LAST_CHUNK.bytesize)

    def all_there? = length && @bytes >= @head.index(HEAD_END) + HEAD_END.bytesize + length

    # The Content-Length; nil before the headers are complete, and when there is none.
    def length
      return @length if defined?(@length) || !@head.include?(HEAD_END)

      @length = @head[/^content-length: (\d+)/i, 1]&.to_i
    end

    def finish = @last ||= Bench.now
  end
end
