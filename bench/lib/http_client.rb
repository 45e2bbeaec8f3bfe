# frozen_string_literal: true

require "socket"

module Bench
  # A small HTTP/1.1 client: one GET, and the whole answer of known length.
  class HttpClient
    # status Integer, headers in lower case, body binary.
    Answer = Struct.new(:status, :headers, :body)
    GONE = [Errno::ECONNREFUSED, Errno::ECONNRESET, Errno::EPIPE, Errno::ETIMEDOUT, EOFError].freeze

    # Connects to 127.0.0.1 from the given loopback address; raises Errno::ECONNREFUSED.
    def initialize(port, source: "127.0.0.1")
      @socket = TCPSocket.new("127.0.0.1", port, source, nil)
    end

    # One GET on a connection of its own; raises one of GONE.
    def self.get(port, path)
      client = new(port)
      client.ask(path)
      client.answer
    ensure
      client&.close
    end

    def ask(path)
      @socket.write("GET #{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
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
      length = headers.fetch("content-length", 0).to_i
      @socket.read(length).tap { |bytes| raise EOFError if bytes.to_s.bytesize < length }
    end
  end
end
