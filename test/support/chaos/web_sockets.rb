# frozen_string_literal: true

require_relative "web_socket"

module Support
  module Chaos
    # Tunnels on streams of one connection of HTTP/2 (RFC 8441), and a malformed one among them, which must not harm the
    # others.
    module WebSockets
      TUNNELS = 3
      # How many messages are sent and come back, one after another. Over a long connection, a client that updates its
      # windows for each sends more such frames than a flood may have.
      MESSAGES = [8, 8, 8, 8, 8, 8, 8, 250].freeze
      CONNECT = { method: "CONNECT", protocol: "websocket", flags: Http2Client::END_HEADERS }.freeze

      private

      # An old edge would wait for the other connection of this client, and its workers for the edge.
      def websockets
        close
        length = MESSAGES.sample(random: @random) * WebSocket::MESSAGE_BYTES
        sockets = (1..).step(2).take(TUNNELS).map do |stream|
          WebSocket.new(stream, *note("GET", :websockets, @random.bytes(length)))
        end
        relay(sockets)
        sockets.each { |socket| lose(socket.outcome) if socket.settle == :lost }
      end

      def relay(sockets)
        client = Http2Client.new(connection = @server.connect)
        client.write(*sockets.map { |socket| client.request(socket.stream, path: socket.outcome.path, **CONNECT) },
                     client.request(sockets.last.stream + 2, scheme: nil, **CONNECT))
        hear_each(client, client.read, sockets) until sockets.all?(&:over?)
      rescue *Client::GONE => e
        sockets.each { |socket| socket.break_off(e) }
      ensure
        sockets.each { |socket| socket.outcome.stopping = @stopping.call }
        connection&.close
      end

      def hear_each(client, frame, sockets)
        raise EOFError if frame.nil? || (frame.kind == :go_away && frame.error.positive?)

        last = frame.payload.unpack1("N") if frame.kind == :go_away
        sockets.each do |socket|
          socket.refuse if last && socket.stream > last
          client.write(*socket.hear(frame, client)) if socket.stream == frame.stream
        end
      end
    end
  end
end
