# frozen_string_literal: true

require_relative "raw_client"

module Support
  # A client that sends exactly the given frames of HTTP/2 and reads what comes.
  class Http2Client
    PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".b
    KINDS = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, go_away: 7, window_update: 8,
              continuation: 9 }.freeze
    END_STREAM = 0x1
    ACK = 0x1
    END_HEADERS = 0x4
    HEADER_TABLE_SIZE = 1
    INITIAL_WINDOW_SIZE = 4
    # Field names and indices of HPACK's static table (RFC 7541, appendix A) that a response's status may have.
    STATUSES = { 0x88 => 200, 0x89 => 204, 0x8a => 206, 0x8b => 304, 0x8c => 400, 0x8d => 404, 0x8e => 500 }.freeze
    TABLE_SIZE_ZERO = "\x20".b
    # The Huffman codes of digits (RFC 7541, appendix B), in five or six bits.
    DIGITS = { "00000" => 0, "00001" => 1, "00010" => 2,
               **(3..9).to_h { |digit| [format("%06b", digit + 22), digit] } }.freeze

    # What the server has sent.
    Frame = Struct.new(:kind, :flags, :stream, :payload) do
      # The code of an error (RFC 9113, section 7).
      def error
        payload[kind == :go_away ? 4 : 0, 4].unpack1("N")
      end

      def end_stream?
        flags.anybits?(END_STREAM)
      end

      # The status of a response; its field comes first.
      def status
        field = payload.delete_prefix(TABLE_SIZE_ZERO)
        known = STATUSES[field.getbyte(0)]
        return known if known

        bits = field[2, field.getbyte(1) & 0x7f].unpack1("B*")
        Array.new(3) { DIGITS.keys.find { |code| bits.delete_prefix!(code) }.then { |code| DIGITS[code] } }.join.to_i
      end
    end

    # @param client [RawClient, TlsClient]
    # @param settings [Hash] identifiers and values
    def initialize(client, settings: {})
      @client = client
      settings = { HEADER_TABLE_SIZE => 0 }.merge(settings)
      write(PREFACE + frame(:settings, settings.map { |id, value| [id, value].pack("nN") }.join))
    end

    # Takes up the server's settings. Returns self.
    def take_settings
      await(:settings)
      write(frame(:settings, flags: ACK))
    end

    # @return [String] one frame
    def frame(kind, payload = "", flags: 0, stream: 0)
      [payload.bytesize].pack("N")[1..] + [KINDS.fetch(kind, kind), flags, stream].pack("CCN") + payload.b
    end

    # Fields without compression (RFC 7541, section 6.2.2).
    def self.block(fields)
      fields.map { |name, value| "\0".b << text(name) << text(value) }.join
    end

    def self.text(text)
      bytes = text.b
      return [bytes.bytesize].pack("C") + bytes if bytes.bytesize < 127

      rest = bytes.bytesize - 127
      length = "\x7f".b
      while rest > 127
        length << (rest & 0x7f | 0x80)
        rest >>= 7
      end
      (length << rest) + bytes
    end

    # @return [String] the headers of a request as a frame
    def request(stream, fields: {}, flags: END_HEADERS | END_STREAM, **pseudo)
      pseudo = { method: "GET", scheme: "http", path: "/", authority: "localhost" }.merge(pseudo).compact
      pseudo = pseudo.transform_keys { |name| ":#{name}" }
      frame(:headers, self.class.block(pseudo.to_a + fields.to_a), flags: flags, stream: stream)
    end

    # Sends frames.
    def write(*frames)
      @client.write(frames.join)
      self
    end

    # Ends the connection without an orderly end.
    def reset
      @client.reset
    end

    # Reads the next frame; nil at the end.
    def read
      header = @client.read_exactly(9)
      length = "\0#{header[0, 3]}".unpack1("N")
      kind, flags, stream = header[3..].unpack("CCN")
      Frame.new(KINDS.key(kind) || kind, flags, stream, length.zero? ? "".b : @client.read_exactly(length))
    rescue EOFError, SystemCallError
      nil
    end

    # Reads up to the first frame of these kinds, or up to the frame that ends the connection.
    def await(*kinds, stream: nil)
      while (frame = read)
        return frame if frame.kind == :go_away && frame.error.positive?
        return frame if kinds.include?(frame.kind) && (stream.nil? || frame.stream == stream)

        write(frame(frame.kind, frame.payload, flags: ACK)) if frame.kind == :ping && frame.flags.zero?
      end
    end

    # Sends more than any flood may be long, and returns what the server said at last.
    # @yield the next frames, or what the server has said
    def flood
      300.times do
        frames = yield
        return frames if frames.is_a?(Frame)

        write(frames)
      end
      await(:go_away)
    rescue SystemCallError
      await(:go_away)
    end
  end
end
