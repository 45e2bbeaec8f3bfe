# frozen_string_literal: true

require_relative "http_client"
require_relative "pace"

module Bench
  # One POST whose body is a file.
  class Upload
    # Bytes of a chunk; a client that is slower sends smaller ones.
    CHUNK_BYTES = 256 * 1024
    # Answers of this size or less are worth telling.
    TOLD_BYTES = 1024

    # path: the target; file: the path of the body; chunked: its framing; rate: bytes a second, or nil.
    def initialize(port, path:, file:, headers: {}, chunked: false, rate: nil)
      @port = port
      @path = path
      @file = file
      @headers = headers
      @chunked = chunked
      @rate = rate
    end

    # Gives monotonic times and the answer; status 0 when there was none.
    def run
      begun = now
      client = HttpClient.new(@port)
      sent = send_request(client)
      answer = client.answer
      { begun: begun, sent: sent, answered: now, status: answer.status, headers: answer.headers,
        body: answer.body[0, TOLD_BYTES] }
    rescue *HttpClient::GONE
      { begun: begun, sent: now, answered: now, status: 0, headers: {}, body: "" }
    ensure
      client&.close
    end

    private

    # Gives the time when the last byte was written. A server that refuses may close before.
    def send_request(client)
      size = File.size(@file)
      framing = @chunked ? { "Transfer-Encoding" => "chunked" } : { "Content-Length" => size }
      client.ask(@path, framing.merge(@headers.transform_keys(&:to_s)), verb: "POST")
      File.open(@file, "rb") { |file| send_body(client.socket, file, size) }
      now
    rescue Errno::EPIPE, Errno::ECONNRESET
      now
    end

    def send_body(socket, file, size)
      pace = Pace.new(@rate, now)
      step = @chunked ? [pace.piece_bytes, CHUNK_BYTES].min : pace.piece_bytes
      (0...size).step(step) do |offset|
        send_piece(socket, file, [step, size - offset].min)
        wait = pace.delay(offset + step, now)
        sleep(wait) if wait.positive?
      end
      socket.write("0\r\n\r\n") if @chunked
    end

    # From the page cache to the socket without a copy in this process.
    def send_piece(socket, file, bytes)
      socket.write("#{bytes.to_s(16)}\r\n") if @chunked
      IO.copy_stream(file, socket, bytes)
      socket.write("\r\n") if @chunked
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
