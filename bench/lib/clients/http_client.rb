# frozen_string_literal: true

require "socket"

module Bench
  # A small HTTP/1.1 client.
  class HttpClient
    # Header names are in lower case, the body is binary; cookies: "name=value" of each that is set.
    Response = Struct.new(:status, :headers, :body, :cookies)
    GONE = [Errno::ECONNREFUSED, Errno::ECONNRESET, Errno::EPIPE, Errno::ETIMEDOUT, EOFError].freeze
    # Loopback addresses to connect from when there are so many connections that ports would run out.
    SOURCES = Array.new(4) { |index| "127.0.0.#{index + 2}" }.freeze

    PIECE_BYTES = 1 << 18
    private_constant :PIECE_BYTES

    # For bodies that are too large for one String.
    attr_reader :socket

    # One GET on a connection of its own; raises one of GONE.
    def self.get(port, path, headers = {})
      client = new(port)
      client.request(path, headers)
      client.response
    ensure
      client&.close
    end

    # number: of a connection among very many.
    def initialize(port, number: nil)
      source = number ? SOURCES[number % SOURCES.size] : "127.0.0.1"
      @socket = TCPSocket.new("127.0.0.1", port, source, nil)
    end

    # Sends the request line and headers.
    def request(path, headers = {}, verb: "GET")
      fields = { "Host" => "127.0.0.1" }.merge(headers).map { |name, value| "#{name}: #{value}\r\n" }
      @socket.write("#{verb} #{path} HTTP/1.1\r\n#{fields.join}\r\n")
    end

    # Reads one response; raises EOFError when the server closes before its end.
    def response
      status, headers, cookies = head
      Response.new(status, headers, body(headers), cookies)
    end

    # Reads one response with a Content-Length, yields its body piece by piece, and returns the status.
    def stream
      status, headers, = head
      left = headers.fetch("content-length").to_i
      while left.positive?
        piece = @socket.readpartial([left, PIECE_BYTES].min)
        left -= piece.bytesize
        yield piece
      end
      status
    end

    def close = @socket.close

    private

    def head
      lines = []
      until (line = @socket.readline("\r\n").chomp("\r\n")).empty?
        lines << line
      end
      fields = lines.drop(1).map { |field| field.split(/:\s*/, 2) }.each { |field| field.first.downcase! }
      cookies = fields.filter_map { |name, value| value[/\A[^;]+/] if name == "set-cookie" }
      [lines.first.split[1].to_i, fields.to_h, cookies]
    end

    def body(headers)
      headers["transfer-encoding"] == "chunked" ? chunks : read(headers.fetch("content-length", 0).to_i)
    end

    # Expects no trailers.
    def chunks
      body = "".b
      until (length = @socket.readline("\r\n").to_i(16)).zero?
        body << read(length)
        read(2)
      end
      read(2)
      body
    end

    def read(length) = @socket.read(length).tap { |bytes| raise EOFError if bytes.to_s.bytesize < length }
  end
end
