# frozen_string_literal: true

require "digest"
require "json"
require "zlib"

module Support
  # A WebSocket client (RFC 6455) for short messages, with frames of its own.
  class WebSocketClient
    GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    TEXT = 1
    CLOSE = 8
    PING = 9

    # The response to the handshake, and how many compressed messages have arrived.
    attr_reader :response, :deflated

    # @return [String] the text of a compressed message
    def self.inflate(message)
      Zlib::Inflate.new(-Zlib::MAX_WBITS).inflate(message + "\0\0\xFF\xFF".b)
    end

    # Opens a WebSocket over `client`, a RawClient; the status says whether that has succeeded.
    def initialize(client, target, fields = {})
      @client = client
      @deflated = 0
      @key = ["sixteen bytes key"[0, 16]].pack("m0")
      handshake = { "Connection" => "Upgrade", "Upgrade" => "websocket", "Sec-WebSocket-Version" => "13",
                    "Sec-WebSocket-Key" => @key }
      @response = client.request("GET", target, fields: handshake.merge(fields)).read_response
    end

    # Whether the server accepted the handshake of this client.
    def accepted?
      response.status == 101 && response["sec-websocket-accept"] == Digest::SHA1.base64digest(@key + GUID)
    end

    # Sends a text. Returns self.
    def text(text)
      write(frame(TEXT, text))
    end

    # Sends an object as JSON. Returns self.
    def json(object)
      text(JSON.generate(object))
    end

    # Returns the next text, nil when the server closes the WebSocket.
    def read_text
      loop do
        kind, payload = read_frame
        return payload.force_encoding("UTF-8") if kind == TEXT
        return if kind == CLOSE
      end
    end

    # Returns the next JSON object for which the block is true.
    def read_json
      loop do
        object = JSON.parse(read_text)
        return object if yield(object)
      end
    end

    # Sends bytes as they are. Returns self.
    def write(bytes)
      @client.write(bytes)
      self
    end

    # Returns the code with which the server closes the WebSocket.
    def close_code
      loop do
        kind, payload = read_frame
        return payload.unpack1("S>") if kind == CLOSE
      end
    end

    def close
      @client.close
    end

    # @param last [Boolean] whether the message ends with this frame
    # @return [String] a frame, masked as those of clients are
    def frame(kind, payload, last: true)
      mask = "mask".bytes
      masked = payload.b.bytes.each_with_index.map { |byte, index| byte ^ mask[index % 4] }
      length = payload.bytesize < 126 ? [0x80 | payload.bytesize].pack("C") : [0xFE, payload.bytesize].pack("CS>")
      [(last ? 0x80 : 0) | kind].pack("C") << length << [*mask, *masked].pack("C*")
    end

    private

    def read_frame
      kind, length = @client.read_exactly(2).unpack("CC")
      length = case length
               when 126 then @client.read_exactly(2).unpack1("S>")
               when 127 then @client.read_exactly(8).unpack1("Q>")
               else length
               end
      payload = @client.read_exactly(length)
      return [kind & 0x0F, payload] if kind.nobits?(0x40)

      @deflated += 1
      [kind & 0x0F, self.class.inflate(payload)]
    end
  end
end
