# frozen_string_literal: true

module Bench
  # One POST whose body is a file.
  class Upload
    # Of a chunk; a slower client sends smaller ones.
    CHUNK_BYTES = 256 * 1024
    # How much of the response's body is returned.
    KEPT_BYTES = 1024

    # rate: bytes a second, or nil.
    def initialize(port, path:, file:, headers: {}, chunked: false, rate: nil)
      @port = port
      @path = path
      @file = file
      @headers = headers
      @chunked = chunked
      @rate = rate
    end

    # Monotonic times and the response; status 0 when there was none.
    def run
      started = Bench.now
      client = HttpClient.new(@port)
      sent = send_request(client)
      response = client.response
      { started: started, sent: sent, ended: Bench.now, status: response.status, headers: response.headers,
        body: response.body[0, KEPT_BYTES] }
    rescue *HttpClient::GONE
      { started: started, sent: Bench.now, ended: Bench.now, status: 0, headers: {}, body: "" }
    ensure
      client&.close
    end

    private

    # Returns when the last byte was written. A server that refuses the body may close earlier.
    def send_request(client)
      size = File.size(@file)
      framing = @chunked ? { "Transfer-Encoding" => "chunked" } : { "Content-Length" => size }
      client.request(@path, framing.merge(@headers.transform_keys(&:to_s)), verb: "POST")
      File.open(@file, "rb") { |file| send_body(client.socket, file, size) }
      Bench.now
    rescue Errno::EPIPE, Errno::ECONNRESET
      Bench.now
    end

    def send_body(socket, file, size)
      pace = Pace.new(@rate, Bench.now)
      step = @chunked ? [pace.step_bytes, CHUNK_BYTES].min : pace.step_bytes
      (0...size).step(step) do |offset|
        send_piece(socket, file, [step, size - offset].min)
        wait = pace.delay(offset + step, Bench.now)
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
  end
end
