# frozen_string_literal: true

require "test_helper"
require "net/http"

module Carat
  # The sockets of the option `cable` as the edge has them: limits, restarts and ends of the server.
  class CableLimitsTest < Support::IntegrationTest
    include Support::CableServer
    needs Support::CableApp.obstacle

    MESSAGE_TOO_BIG = 1009
    RESTART = { "type" => "disconnect", "reason" => "server_restart", "reconnect" => true }.freeze
    TURBO = <<~'RUBY'
      require "turbo-rails"
      Shop.initialize!
      class NoticesController
        def pid = render(plain: Turbo::StreamsChannel.signed_stream_name("shelf"))
        def create
          Turbo::StreamsChannel.broadcast_stream_to("shelf", content: params[:text])
          head :no_content
        end
      end
    RUBY

    def test_a_message_beyond_the_limit_closes_the_socket
      server = rails(workers: 1, threads: 1)
      ann, ben = %w[ann ben].map { |name| subscriber(server, name) }
      ann.write([0x81, 0xFF, (64 * 1024) + 1, "mask"].pack("CCQ>a4"))

      assert_equal MESSAGE_TOO_BIG, ann.close_code
      assert_equal "ann left after 0", heard(ben)
    end

    def test_a_path_that_rails_takes_for_the_same_is_the_same_and_others_are_refused
      server = rails(workers: 1, threads: 1)
      %w[/cable/ //cable].each do |path|
        client = Support::WebSocketClient.new(server.connect, "#{path}?name=ann", ORIGIN)
        client.json("command" => "subscribe", "identifier" => ROOM)
        client.read_json { |message| message["type"] == "confirm_subscription" }
      end
      assert_equal 404, Support::WebSocketClient.new(server.connect, "/sockets?name=ann", ORIGIN).response.status
      await_log(server, %r{refused a WebSocket at /sockets: the option cable takes handshakes at /cable})
      with_body = server.connect
      with_body.write("GET /cable?name=ann HTTP/1.1\r\nHost: shop.test\r\nOrigin: http://shop.test\r\n" \
                      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
                      "Sec-WebSocket-Key: c2l4dGVlbiBieXRlcyBrZQ==\r\nContent-Length: 2\r\n\r\n{}")

      assert_equal 404, with_body.read_response.status
    end

    def test_a_handshake_without_a_key_is_malformed_and_another_version_unknown
      server = rails(workers: 1, threads: 1)
      statuses = [{ "Sec-WebSocket-Key" => "short" }, { "Sec-WebSocket-Version" => "8" }].map do |fields|
        socket(server, "ann", **fields).response.status
      end

      assert_equal [400, 426], statuses
    end

    def test_a_binary_message_is_a_command
      server = rails(workers: 1, threads: 1)
      ann = subscriber(server, "ann")
      command = { "command" => "message", "identifier" => ROOM, "data" => '{"action":"say","text":"hi"}' }
      ann.write(ann.frame(2, JSON.generate(command)))

      assert_equal "ann: hi", heard(ann)
    end

    def test_a_client_that_does_not_read_is_disconnected_and_the_others_are_served
      server = rails(workers: 1, threads: 1)
      slow, fast = %w[slow fast].map { |name| subscriber(server, name) }
      300.times do |number|
        broadcast(server, "number" => number, "filler" => "x" * 100_000)
        assert_equal number, reply(fast).dig("message", "number")
      end
      eventually { stats(server).fetch("slow") == 1 }
      last = slow.read_json { |message| message["type"] == "disconnect" }
      assert_equal({ "type" => "disconnect", "reason" => "too_slow", "reconnect" => true }, last)
    end

    def test_no_more_commands_than_the_limit_are_with_the_application
      server = rails(workers: 1, threads: 1)
      members = Array.new(70) { |number| subscriber(server, "n#{number}") }
      members.each { |member| perform(member, "say_later", text: "x") }
      eventually { status(server).values_at("running", "waiting").sum == 64 }
      server.directory.write("open", "")

      texts = Array.new(70) { heard(members.first) }
      assert_equal Array.new(70) { |number| "n#{number}: x" }.sort, texts.sort
    end

    def test_a_program_with_the_token_broadcasts_without_the_control_socket
      settings = settings(workers: 1, threads: 1)
      settings = settings.merge(args: [*settings[:args], "--metrics", "tcp://127.0.0.1:0"],
                                env: settings[:env].merge("CARAT_CABLE_TOKEN" => "secret"))
      server = serve(APP, **settings)
      port = await_log(server, %r{ info metrics address=tcp://127.0.0.1:(\d+)})[1]
      ann = subscriber(server, "ann")
      order = JSON.generate("stream" => "room", "message" => { "text" => "from outside" })
      too_long = "x" * ((1 << 20) + (8 << 10) + 1)
      codes = [[order, "Bearer other"], [order, nil], ["{", "Bearer secret"], [too_long, "Bearer secret"]]
      assert_equal(%w[401 401 400 413], codes.map { |body, token| post(port, body, token).code })
      done = post(port, order, "Bearer secret")

      assert_equal ["200", { "subscriptions" => 1 }], [done.code, JSON.parse(done.body)]
      assert_equal "from outside", heard(ann)
      assert_equal "405", Net::HTTP.get_response("127.0.0.1", "/broadcast", port).code
    end

    def test_restarts_lose_no_message_and_close_no_socket
      server = rails(workers: 2, threads: 2)
      members = Array.new(20) { |number| subscriber(server, "n#{number}") }
      sender = Thread.new { (1..200).each { |number| say_and_hear(members.first, number) } }
      3.times { assert_equal 0, carat(server, "restart").last }
      sender.join

      expected = Array.new(200) { |index| index + 1 }
      members.drop(1).each do |member|
        assert_equal(expected, expected.map { reply(member).dig("message", "text")[/\d+\z/].to_i })
      end
    end

    def test_a_stop_asks_clients_to_come_back
      server = rails(workers: 1, threads: 1)
      ann = subscriber(server, "ann")

      assert_equal 0, server.stop.exitstatus
      assert_equal RESTART, reply(ann)
      assert_nil ann.read_text
    end

    def test_an_upgrade_asks_clients_to_come_back_once_their_commands_have_ended
      server = rails(workers: 1, threads: 1)
      ann = subscriber(server, "ann")
      perform(ann, "say_later", text: "one")
      eventually { !server.directory.read("arrived").empty? }
      assert_equal 0, carat(server, "upgrade").last
      server.directory.write("open", "")

      # The command ends before or after that.
      assert_equal RESTART, ann.read_json { |message| message["type"] == "disconnect" }
      assert_nil ann.read_text
      ben = subscriber(server, "ben")
      broadcast(server, "text" => "hello")
      # Whether he hears of her end depends on which server still runs the command.
      assert(ben.read_json { |message| message["message"] == { "text" => "hello" } })
    ensure
      carat(server, "stop") if server
    end

    def test_streams_of_turbo_cost_no_command
      app = Support::CableServer::APP.sub("Shop.initialize!", TURBO)
      skip "turbo-rails is not installed" unless Gem::Specification.find_all_by_name("turbo-rails").any?
      server = serve(app, **settings(workers: 1, threads: 1))
      name = server.get("/pid").body
      ann = welcome(server, "ann")
      stream = JSON.generate("channel" => "Turbo::StreamsChannel", "signed_stream_name" => name)
      ann.json("command" => "subscribe", "identifier" => stream)
      assert_equal({ "identifier" => stream, "type" => "confirm_subscription" }, reply(ann))
      server.request("POST", "/notices?text=hello")

      assert_equal "hello", reply(ann)["message"]
      assert_equal 0, stats(server).fetch("received")
      forged = stream.sub("--", "--0")
      ann.json("command" => "subscribe", "identifier" => forged)
      assert_equal({ "identifier" => forged, "type" => "reject_subscription" }, reply(ann))
    end

    private

    def post(port, body, token)
      Net::HTTP.post(URI("http://127.0.0.1:#{port}/broadcast"), body, { "Authorization" => token }.compact)
    end

    # Sends a number, and waits until it comes back.
    def say_and_hear(member, number)
      say(member, number.to_s)
      assert_equal number, heard(member)[/\d+\z/].to_i
    end
  end
end
