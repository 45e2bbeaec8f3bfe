# frozen_string_literal: true

require "test_helper"

module Carat
  # Sockets of the option `cable` whose messages are compressed (option `cable_compression`).
  class CableCompressionTest < Support::IntegrationTest
    include Support::CableServer
    needs Support::CableApp.obstacle

    OFFER = { "Sec-WebSocket-Extensions" => "permessage-deflate; client_max_window_bits" }.freeze
    ANSWER = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    PAGE = "<p>line</p>" * 200
    DEFLATED = 0x40
    TEXT = 1
    PING = 9
    PROTOCOL_ERROR = 1002
    INVALID_PAYLOAD = 1007
    MESSAGE_TOO_BIG = 1009

    def test_a_broadcast_is_compressed_for_clients_that_have_offered_it
      server = compressing
      ann, ben = member(server, "ann"), member(server, "ben", "Sec-WebSocket-Extensions" => "what, junk;;=")
      cid = member(server, "cid", "Sec-WebSocket-Extensions" => "permessage-deflate; server_max_window_bits=9")
      assert_equal [ANSWER, nil, "#{ANSWER}; server_max_window_bits=9"],
                   [ann, ben, cid].map { |client| client.response["sec-websocket-extensions"] }
      broadcast(server, "text" => PAGE)
      broadcast(server, "text" => "short")

      assert_equal [[PAGE, "short"]] * 3, [ann, ben, cid].map { |client| Array.new(2) { heard(client) } }
      # What is longer than the client's window is sent as it is.
      assert_equal [1, 0, 0], [ann, ben, cid].map(&:deflated)
    end

    def test_what_a_client_sends_is_decompressed
      server = compressing
      ann, ben = member(server, "ann"), member(server, "ben")
      data = JSON.generate("action" => "say", "text" => PAGE)
      command = deflated(JSON.generate("command" => "message", "identifier" => ROOM, "data" => data))
      ann.write(ann.frame(DEFLATED | TEXT, command[0, 20], last: false))
      ann.write(ann.frame(PING, "between")).write(ann.frame(0, command[20..]))
      say(ann, "plain")

      assert_equal ["ann: #{PAGE}", "ann: #{PAGE} plain"], Array.new(2) { heard(ben) }
      assert_equal 2, ben.deflated
    end

    def test_messages_that_are_invalid_or_too_long_close_the_socket
      server = compressing
      codes = { [DEFLATED | TEXT, "no such block"] => INVALID_PAYLOAD,
                [DEFLATED | TEXT, deflated("x" * (10 << 20))] => MESSAGE_TOO_BIG,
                [DEFLATED | PING, ""] => PROTOCOL_ERROR, [DEFLATED, ""] => PROTOCOL_ERROR }
      codes.each do |(kind, payload), code|
        ann = member(server, "ann")
        assert_equal code, ann.write(ann.frame(kind, payload)).close_code
      end
      ben = member(server, "ben", "Sec-WebSocket-Extensions" => "permessage-deflate; junk")
      assert_equal PROTOCOL_ERROR, ben.write(ben.frame(DEFLATED | TEXT, deflated("{}"))).close_code
    end

    def test_without_the_option_the_offer_is_declined
      server = rails(workers: 1, threads: 1)
      ann = member(server, "ann")
      broadcast(server, "text" => PAGE)

      assert_nil ann.response["sec-websocket-extensions"]
      assert_equal [PAGE, 0], [heard(ann), ann.deflated]
    end

    def test_sockets_over_tls_and_http2_are_compressed
      certificate = Support::TestCertificate.new("localhost")
      server = compressing(files: certificate.files, binds: ["tls://127.0.0.1:0?cert=server.crt&key=server.key"])
      client = Support::TlsClient.connect(server, trust: certificate.certificate)
      ann = subscribed(Support::WebSocketClient.new(client, "/cable?name=ann", ORIGIN.merge(OFFER)))
      h2 = Support::TlsClient.connect(server, trust: certificate.certificate) { |it| it.alpn_protocols = ["h2"] }
      ben = over_http2(h2)
      broadcast(server, "text" => PAGE)

      assert_equal [PAGE, 1], [heard(ann), ann.deflated]
      frame = ben.await(:data, stream: 1).payload
      assert_equal 0xC1, frame.getbyte(0)
      assert_includes Support::WebSocketClient.inflate(frame.byteslice(2..)), PAGE
    end

    private

    def compressing(**options)
      settings = settings(workers: 1, threads: 1, **options)
      serve(APP, **settings, args: settings[:args] + ["--cable-compression"])
    end

    def member(server, name, fields = OFFER)
      subscribed(socket(server, name, **fields))
    end

    def subscribed(client)
      assert_equal "welcome", reply(client)["type"]
      client.json("command" => "subscribe", "identifier" => ROOM)
      assert_equal "confirm_subscription", reply(client)["type"]
      client
    end

    # A client that has subscribed over HTTP/2.
    def over_http2(connection)
      client = Support::Http2Client.new(connection).take_settings
      fields = { "origin" => "http://shop.test", "sec-websocket-version" => "13",
                 "sec-websocket-extensions" => "permessage-deflate" }
      client.write(client.request(1, method: "CONNECT", path: "/cable?name=ben", protocol: "websocket", fields:,
                                     flags: Support::Http2Client::END_HEADERS))
      assert_match(/welcome/, client.await(:data, stream: 1).payload)
      text = JSON.generate("command" => "subscribe", "identifier" => ROOM)
      client.write(client.frame(:data, [0x81, 0x80 | text.bytesize, "\0\0\0\0", text].pack("CCa4a*"), stream: 1))
      assert_match(/confirm_subscription/, client.await(:data, stream: 1).payload)
      client
    end

    def deflated(text)
      deflater = Zlib::Deflate.new(Zlib::BEST_COMPRESSION, -Zlib::MAX_WBITS)
      deflater.deflate(text, Zlib::SYNC_FLUSH).delete_suffix("\0\0\xFF\xFF".b)
    end
  end
end
