# frozen_string_literal: true

require "json"

module Bench
  # Subscribers of a channel of Action Cable, read by a thread. One that is disconnected connects again.
  class CableListeners
    WAIT_SECONDS = 0.5
    PIECE_BYTES = 1 << 16
    SUBSCRIBE = JSON.generate(command: "subscribe", identifier: JSON.generate(channel: "RoomChannel"))
    FIELDS = { "X-Forwarded-Proto" => "https", "Sec-WebSocket-Protocol" => "actioncable-v1-json",
               **WebSocketClients::HANDSHAKE }.freeze
    private_constant :WAIT_SECONDS, :PIECE_BYTES, :SUBSCRIBE, :FIELDS

    # How many connections have ended.
    attr_reader :disconnects

    def initialize(port, count)
      @port = port
      @sockets = {}.compare_by_identity
      @received = Array.new(count) { +"" }
      @disconnects = 0
      @thread = Thread.new { listen until @over }
    end

    # Whether all are subscribed.
    def ready? = @received.all? { |text| text.include?("confirm_subscription") }

    # Stops; returns the numbers that each has received, from messages such as "n12".
    def finish
      @over = true
      @thread.join
      @sockets.each_key(&:close)
      @received.map { |text| text.scan(/"message":"n(\d+)"/).map { |(number)| number.to_i } }
    end

    private

    def listen
      (@received.each_index.to_a - @sockets.values).each { |index| connect(index) }
      IO.select(@sockets.keys, nil, nil, WAIT_SECONDS)&.first&.each { |socket| read(socket) }
    end

    def connect(index)
      client = HttpClient.new(@port)
      client.request("/cable", FIELDS)
      @received[index] << (text = client.socket.readpartial(PIECE_BYTES))
      @received[index] << (text << client.socket.readpartial(PIECE_BYTES)) until text.include?('"welcome"')
      client.socket.write(CableClients.frame(SUBSCRIBE))
      @sockets[client.socket] = index
    rescue *HttpClient::GONE
      client&.close
    end

    def read(socket)
      @received[@sockets[socket]] << socket.read_nonblock(PIECE_BYTES)
    rescue *HttpClient::GONE
      @sockets.delete(socket)
      @disconnects += 1
      socket.close
    end
  end
end
