# frozen_string_literal: true

require "socket"

module Bench
  # A small HTTP/1.1 client.
  class HttpClient
    # Header names are in lower case, the body is binary.
    Response = Struct.new(:status, :headers, :body)
    GONE = [Errno::ECONNREFUSED, Errno::ECONNRESET, Errno::EPIPE, Errno::ETIMEDOUT, EOFError].freeze
    # Loopback addresses to connect from when there are so many connections that ports would run out.
    SOURCES = Array.new(4) { |index| "127.0.0.#{index + 2}" }.freeze

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
      lines = []
      until (line = @socket.readline("\r\n", chomp: true)).empty?
        lines << line
      end
      headers = lines.drop(1).to_h { |field| field.split(/:\s*/, 2) }.transform_keys(&:downcase)
      Response.new(lines.first.split[1].to_i, headers, body(headers))
    end

    # Whether the server has kept the connection and sent nothing unasked.
    def open?
      @socket.read_nonblock(1, exception: false) == :wait_readable
    rescue Errno::ECONNRESET
      false
    end

    def close = @socket.close

    private

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
