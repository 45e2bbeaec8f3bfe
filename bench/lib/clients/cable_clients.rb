# frozen_string_literal: true

require "json"

module Bench
  # WebSocketClients that subscribe to a channel of ActionCable.
  class CableClients < WebSocketClients
    ROOM = JSON.generate(channel: "RoomChannel")
    SUBSCRIBE = JSON.generate(command: "subscribe", identifier: ROOM)
    MASK = "mask"

    # A short text as a client sends it (RFC 6455, section 5.2).
    def self.frame(text)
      masked = text.bytes.zip(MASK.bytes.cycle).map { |byte, mask| byte ^ mask }
      [0x81, 0x80 | text.bytesize, MASK, *masked].pack("CCa4C*")
    end

    private

    def path = "/cable"

    def begun(sockets)
      welcome = receiving(sockets, '"welcome"')
      welcome.each { |socket| socket.write(self.class.frame(SUBSCRIBE)) }
      receiving(welcome, "confirm_subscription")
    end

    def event(text) = "\"message\":#{JSON.generate(text)}"
  end
end
