# frozen_string_literal: true

require "test_helper"
require "support/cable_app"
require "support/cable_server"
require "support/needs"
require "support/test_certificate"
require "support/tls_client"
require "carat/cli/control/control_client"

module Carat
  # The sockets of the option `cable` pass to the server that takes over.
  class CableUpgradeTest < Support::IntegrationTest
    extend Support::Needs
    include Support::CableServer
    needs Support::CableApp.obstacle

    RESTART = { "type" => "disconnect", "reason" => "server_restart", "reconnect" => true }.freeze

    def teardown
      carat(@server, "stop") if @server
      super
    end

    def test_upgrades_lose_no_message_and_close_no_socket
      start(workers: 2, threads: 2)
      members = Array.new(20) { |number| subscriber(@server, "n#{number}") }
      client = Thread.new { (1..200).each { |number| say_and_hear(members.first, number) } }
      posts = Thread.new { (1..200).each { |number| @server.request("POST", "/notices?text=post:%20#{number}") } }
      3.times { upgrade }
      [client, posts].each(&:join)

      expected = Array.new(200) { |index| index + 1 }
      members.drop(1).each do |member|
        texts = Array.new(400) { heard(member) }.group_by { |text| text[/\A\w+/] }
        assert_equal %w[n0 post].to_h { |name| [name, expected] }, texts.transform_values { |all| numbers(all) }
      end
    end

    def test_a_socket_goes_on_with_its_channels_where_it_was
      start(workers: 1, threads: 1)
      ann, ben = %w[ann ben].map { |name| subscriber(@server, name) }
      say(ann, "one")
      old = reply(ann).dig("message", "pid")
      data = JSON.generate("action" => "say", "text" => "two")
      text = JSON.generate("command" => "message", "identifier" => ROOM, "data" => data)
      frame = [0x81, 0x80 | text.bytesize, "\0\0\0\0", text].pack("CCa4a*")
      ann.write(frame[0, 20])
      upgrade
      ann.write(frame[20..])
      message = reply(ann).fetch("message")

      assert_equal "ann: one two", message["text"]
      refute_equal old, message["pid"]
      @server.request("DELETE", "/clients/ann")
      assert_equal({ "type" => "disconnect", "reason" => "remote", "reconnect" => true }, reply(ann))
      assert_equal ["ann: one", "ann: one two", "ann left after 2"], Array.new(3) { heard(ben) }
    end

    def test_a_compressed_socket_goes_on_with_what_it_has_half_sent
      start(workers: 1, threads: 1, args: [*CONTROL_SOCKET, "--cable", "/cable", "--cable-compression"])
      ann = socket(@server, "ann", "Sec-WebSocket-Extensions" => "permessage-deflate")
      assert_equal "welcome", reply(ann)["type"]
      deflater = Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -Zlib::MAX_WBITS)
      text = deflater.deflate(JSON.generate("command" => "subscribe", "identifier" => ROOM), Zlib::SYNC_FLUSH)
      ann.write(ann.frame(0x41, text[0, 20], last: false))
      upgrade
      ann.write(ann.frame(0, text[20..].delete_suffix("\0\0\xFF\xFF".b)))
      ann.read_json { |message| message["type"] == "confirm_subscription" }
      broadcast("text" => "x" * 10_000)

      assert_equal ["x" * 10_000, 1], [heard(ann), ann.deflated]
    end

    def test_a_command_ends_before_its_socket_moves
      start(workers: 1, threads: 1)
      ann, ben = %w[ann ben].map { |name| subscriber(@server, name) }
      perform(ann, "say_later", text: "one")
      eventually { !@server.directory.read("arrived").empty? }
      say(ann, "two")
      assert_equal 0, carat(@server, "upgrade").last
      say(ben, "meanwhile")
      assert_equal "ben: meanwhile", heard(ann)
      @server.directory.write("open", "")

      assert_equal ["ann: one", "ann: one two"], Array.new(2) { heard(ann) }
      assert_equal ["ben: meanwhile", "ann: one", "ann: one two"], Array.new(3) { heard(ben) }
    end

    def test_what_waits_for_a_client_that_does_not_read_moves_with_it
      start(workers: 1, threads: 1)
      connection = @server.connect
      connection.socket.setsockopt(:SOCKET, :RCVBUF, 4096)
      slow = Support::WebSocketClient.new(connection, "/cable?name=slow", ORIGIN)
      slow.json("command" => "subscribe", "identifier" => ROOM)
      slow.read_json { |message| message["type"] == "confirm_subscription" }
      count = 0
      queued = []
      # Until the kernel takes no more of them.
      until queued.last(4).uniq.size == 1 && queued.size > 3
        broadcast("number" => count, "filler" => "x" * 20_000)
        count += 1
        queued << queued_bytes(connection)
      end
      upgrade
      broadcast("number" => count)

      assert_equal((0..count).to_a, Array.new(count + 1) { reply(slow).dig("message", "number") })
    end

    def test_clients_of_tls_are_asked_to_come_back
      certificate = Support::TestCertificate.new("localhost")
      start(workers: 1, threads: 1, files: certificate.files,
            binds: ["tcp://127.0.0.1:0", "tls://127.0.0.1:0?cert=server.crt&key=server.key"])
      ann = subscriber(@server, "ann")
      client = Support::TlsClient.connect(@server, trust: certificate.certificate, nth: 1)
      ben = Support::WebSocketClient.new(client, "/cable?name=ben", ORIGIN)
      assert_equal "welcome", reply(ben)["type"]
      upgrade

      assert_equal RESTART, reply(ben)
      assert_nil ben.read_text
      say(ann, "still here")
      assert_equal "ann: still here", heard(ann)
    end

    def test_what_the_new_server_has_no_room_for_is_asked_to_come_back
      start(workers: 1, threads: 1, args: CONTROL_SOCKET, config: "cable '/cable'\n")
      members = %w[ann ben cid].map { |name| subscriber(@server, name) }
      @server.directory.write("carat.rb", "cable '/cable'\nmax_tunnels 1\n")
      upgrade
      await_log(@server, /stopped pid=/)
      broadcast("text" => "stayed")

      # They may hear who has left, too.
      replies = members.map { |member| member.read_json { |it| it == RESTART || text_of(it) == "stayed" } }
      assert_equal [[RESTART] * 2, 1], [replies.select { |it| it == RESTART }, stats.fetch("sockets")]
      assert_equal(["stayed"], replies.filter_map { |it| text_of(it) })
    end

    def test_a_new_server_with_another_path_gets_no_socket
      start(workers: 1, threads: 1, args: CONTROL_SOCKET, config: "cable '/cable'\n")
      ann = subscriber(@server, "ann")
      @server.directory.write("carat.rb", "cable '/other'\n")
      upgrade

      assert_equal RESTART, reply(ann)
    end

    private

    def start(**options)
      @server = rails(**options)
    end

    # Upgrades when the old edge of the upgrade before has ended.
    def upgrade
      eventually { carat(@server, "upgrade").last.zero? }
    end

    def numbers(texts)
      texts.map { |text| text[/\d+\z/].to_i }
    end

    # The text of a message; nil of a ping, which has a number.
    def text_of(object)
      message = object["message"]
      message["text"] if message.is_a?(Hash)
    end

    # Sends a number, and waits until it comes back.
    def say_and_hear(member, number)
      say(member, number.to_s)
      nil until heard(member).then { |text| text.start_with?("n0:") && text[/\d+\z/].to_i == number }
    end

    def control
      CLI::ControlClient.new(File.join(@server.directory.path, "carat.sock"))
    end

    def broadcast(message)
      control.post("/broadcast", JSON.generate("stream" => "room", "message" => message))
    end

    def stats
      JSON.parse(control.get("/status")).fetch("cable")
    end

    # How many bytes the kernel has to send to a client.
    def queued_bytes(connection)
      port = format(":%04X", connection.socket.local_address.ip_port)
      line = File.foreach("/proc/net/tcp").find { |it| it.split[2].end_with?(port) }
      line.split[4].to_i(16)
    end
  end
end
