# frozen_string_literal: true

require "socket"

module Bench
  # A small HTTP/1.1 client.
  class HttpClient
    # status Integer, headers in lower case, body binary.
    Answer = Struct.new(:status, :headers, :body)
    GONE = [Errno::ECONNREFUSED, Errno::ECONNRESET, Errno::EPIPE, Errno::ETIMEDOUT, EOFError].freeze

    # Loopback addresses to connect from, so that ports do not run out.
    SOURCES = Array.new(4) { |index| "127.0.0.#{index + 2}" }.freeze

    # The address that the connection of this number comes from, when there are very many.
    def self.source(index)
      SOURCES[index % SOURCES.size]
    end

    # The connection, for bodies that are too large for one String.
    attr_reader :socket

    # Connects to 127.0.0.1 from the given loopback address; raises Errno::ECONNREFUSED.
    def initialize(port, source: "127.0.0.1")
      @socket = TCPSocket.new("127.0.0.1", port, source, nil)
    end

    # One GET on a connection of its own; raises one of GONE.
    def self.get(port, path, headers = {})
      client = new(port)
      client.ask(path, headers)
      client.answer
    ensure
      client&.close
    end

    # Sends the head of a request; a body is written to the socket.
    def ask(path, headers = {}, verb: "GET")
      fields = { "Host" => "127.0.0.1" }.merge(headers).map { |name, value| "#{name}: #{value}\r\n" }
      @socket.write("#{verb} #{path} HTTP/1.1\r\n#{fields.join}\r\n")
    end

    # Reads one answer; raises EOFError when the server closes before its end.
    def answer
      lines = []
      until (line = @socket.readline("\r\n", chomp: true)).empty?
        lines << line
      end
      headers = lines.drop(1).to_h { |field| field.split(/:\s*/, 2) }.transform_keys(&:downcase)
      Answer.new(lines.first.split[1].to_i, headers, body(headers))
    end

    # Whether the server has kept the connection and sent nothing unasked.
    def open?
      @socket.read_nonblock(1, exception: false) == :wait_readable
    rescue Errno::ECONNRESET
      false
    end

    def close
      @socket.close
    end

    private

    def body(headers)
      return chunks if headers["transfer-encoding"] == "chunked"

      read(headers.fetch("content-length", 0).to_i)
    end

    # Trailers are not expected.
    def chunks
      body = "".b
      until (length = @socket.readline("\r\n").to_i(16)).zero?
        body << read(length)
        read(2)
      end
      read(2)
      body
    end

    def read(length)
      @socket.read(length).tap { |bytes| raise EOFError if bytes.to_s.bytesize < length }
    end
  end
end
