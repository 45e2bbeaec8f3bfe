# frozen_string_literal: true

module Bench
  # EventClients whose streams are WebSockets.
  class WebSocketClients < EventClients
    HANDSHAKE = { "Connection" => "Upgrade", "Upgrade" => "websocket", "Sec-WebSocket-Version" => "13",
                  "Sec-WebSocket-Key" => ["sixteen bytes ok"].pack("m0") }.freeze

    private

    def fields = HANDSHAKE
  end
end
