# frozen_string_literal: true

module Bench
  # Clients of HTTP/2 over TLS that send one GET and then keep their connections (see ClientProcess).
  class Http2IdleClients
    # Connections that are used once more at the end.
    PROBES = 20

    SETTINGS = 4
    HEADERS = 1
    DATA = 0
    ACK = 1
    END_STREAM = 1
    END_HEADERS = 4
    PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    # GET, https, "/" and an authority, as HPACK has them.
    REQUEST = [0x82, 0x87, 0x84, 0x41, 9].pack("C*").b + "127.0.0.1"
    private_constant :SETTINGS, :HEADERS, :DATA, :ACK, :END_STREAM, :END_HEADERS, :PREFACE, :REQUEST

    def initialize(port)
      @port = port
      @sockets = []
    end

    # Opens `count` connections, each with one GET; returns how many got a response.
    def open(count:)
      @sockets = Array.new(count) { |number| connect(number) }.select { |socket| responds?(socket, 1) }
      @sockets.size
    end

    # [connections, how many of PROBES got another response]
    def check
      step = [@sockets.size / PROBES, 1].max
      [@sockets.size, @sockets.each_slice(step).first(PROBES).count { |socket, *| responds?(socket, 3) }]
    end

    private

    def connect(number)
      source = HttpClient::SOURCES[number % HttpClient::SOURCES.size]
      context = OpenSSL::SSL::SSLContext.new.tap { |it| it.alpn_protocols = ["h2"] }
      socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", @port, source, nil), context)
      socket.connect
      socket.write(PREFACE, frame(SETTINGS, 0, 0, ""))
      socket
    end

    def responds?(socket, stream)
      socket.write(frame(HEADERS, END_STREAM | END_HEADERS, stream, REQUEST))
      loop do
        kind, flags = read(socket)
        socket.write(frame(SETTINGS, ACK, 0, "")) if kind == SETTINGS && flags.nobits?(ACK)
        return true if kind == DATA && flags.anybits?(END_STREAM)
      end
    rescue OpenSSL::SSL::SSLError, *HttpClient::GONE
      false
    end

    # The kind and the flags of the next frame.
    def read(socket)
      head = socket.read(9) || raise(EOFError)
      length = "\0#{head[0, 3]}".unpack1("N")
      socket.read(length) if length.positive?
      head[3, 2].unpack("CC")
    end

    def frame(kind, flags, stream, payload)
      [payload.bytesize].pack("N")[1..] + [kind, flags, stream].pack("CCN") + payload
    end
  end
end
