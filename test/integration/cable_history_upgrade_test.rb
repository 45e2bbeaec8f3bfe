# frozen_string_literal: true

require "test_helper"
require "support/cable_app"
require "support/cable_server"
require "support/needs"
require "support/test_certificate"
require "support/tls_client"

module Carat
  # Clients of the protocol actioncable-v1-ext-json keep their sessions, and miss nothing, when a server takes over.
  class CableHistoryUpgradeTest < Support::IntegrationTest
    extend Support::Needs
    include Support::CableServer
    needs Support::CableApp.obstacle

    EXTENDED = { "Sec-WebSocket-Protocol" => "actioncable-v1-ext-json" }.freeze
    SESSION = "X-AnyCable-Restore-Sid"
    # Lets the two servers of an upgrade believe that the other one has an earlier version.
    OTHER_VERSION = <<~RUBY.freeze
      require "socket"

      def relay(from, to)
        loop do
          bytes, _, _, rights = from.recvmsg(scm_rights: true)
          break to.close_write if bytes.empty?

          files = rights&.unix_rights.to_a
          beside = Socket::AncillaryData.unix_rights(*files) if files.any?
          to.sendmsg(bytes.sub('"version":3', '"version":2'), 0, nil, *beside)
          files.each(&:close)
        end
      end

      if (old = ENV["CARAT_UPGRADE_FD"])
        old = UNIXSocket.for_fd(Integer(old))
        near, far = UNIXSocket.pair
        unless fork
          far.close
          [[old, near], [near, old]].map { |ends| Thread.new { relay(*ends) } }.each(&:join)
          exit!
        end
        far.close_on_exec = false
        ENV["CARAT_UPGRADE_FD"] = far.fileno.to_s
      end
      load #{Support::ServerOptions::COMMAND.last.inspect}
    RUBY

    # A client that comes back as often as it is asked to, and what it has heard.
    class Member
      attr_reader :texts, :returns, :restored, :position

      # @yield [Hash] the fields of the handshake
      # @yieldreturn [Support::WebSocketClient]
      def initialize(&connect)
        @connect = connect
        @texts = []
        @restored = []
        @returns = 0
        enter
      end

      def numbers = @texts.map { |text| number_of(text) }

      # @param number [Integer] the last one that it waits for
      def listen_until(number)
        hear until @texts.any? && number_of(@texts.last) == number
        true
      end

      def hear
        text = @socket.read_text
        return come_back unless text

        message = JSON.parse(text)
        payload = message["message"]
        return unless payload.is_a?(Hash)

        @position = message.values_at("stream_id", "epoch", "offset")
        @texts << payload["text"]
      end

      def json(object) = @socket.json(object)
      def close = @socket.close

      def come_back
        @returns += 1
        @socket.close
        enter
      end

      private

      def enter
        @socket = @connect.call(EXTENDED.merge({ SESSION => @sid }.compact))
        welcome = @socket.read_json { |message| message["type"] == "welcome" }
        @sid = welcome.fetch("sid")
        @restored << welcome["restored"] if @position
        command = welcome["restored"] ? "history" : "subscribe"
        @socket.json({ "command" => command, "identifier" => Support::CableServer::ROOM, "history" => history }.compact)
        @socket.read_json { |message| message["type"] == "confirm_subscription" } unless welcome["restored"]
      end

      def number_of(text) = text[/\d+\z/].to_i

      def history
        stream, epoch, offset = @position
        { "streams" => { stream => { "epoch" => epoch, "offset" => offset } } } if stream
      end
    end

    def teardown
      carat(@server, "stop") if @server
      super
    end

    def test_upgrades_close_no_plain_socket_and_all_get_each_message_once
      start
      members = [plain, *(others = Array.new(3) { tls })]
      listeners = others.map { |member| Thread.new { member.listen_until(0) } }
      upgrades = Thread.new { 2.times { upgrade } }
      last = 0
      say_and_hear(members.first, last += 1) while upgrades.alive?
      eventually { say_and_hear(members.first, last += 1) && others.all? { |member| member.returns == 2 } }
      say_and_hear(members.first, 0)
      listeners.each(&:join)

      assert_equal [[*1..last, 0]] * 4, members.map(&:numbers)
      assert_equal [0, 2, 2, 2], members.map(&:returns)
      assert_equal [true], members.flat_map(&:restored).uniq
    end

    def test_channels_go_on_with_what_they_had_said
      start
      members = [plain, tls(name: "ben")]
      members.each { |member| say_to(members, member, "1") }
      upgrade
      members.last.hear until members.last.returns == 1
      members.each { |member| say_to(members, member, "2") }
      members.first.come_back
      say_to(members, members.first, "3")

      texts = ["ann: 1", "ben: 1", "ann: 1 2", "ben: 1 2", "ann: 1 2 3"]
      assert_equal [texts] * 2, members.map(&:texts)
      assert_equal [[true]] * 2, members.map(&:restored)
    end

    def test_a_client_that_was_away_comes_back_to_the_new_server
      start
      ann = tls
      say_and_hear(ann, 1)
      ann.close
      await_sockets(0)
      post(2)
      upgrade
      post(3)
      ann.come_back
      ann.listen_until(3)

      assert_equal [[1, 2, 3], [true]], [ann.numbers, ann.restored]
    end

    def test_a_server_of_another_version_begins_a_history_of_its_own
      start(command: [RbConfig.ruby, "carat"], files: { "carat" => OTHER_VERSION })
      ann = plain
      say_and_hear(ann, 1)
      epoch = ann.position[1]
      upgrade
      ann.hear until ann.returns == 1
      say_and_hear(ann, 2)

      assert_equal [nil], ann.restored
      refute_equal epoch, ann.position[1]
    end

    private

    def start(files: {}, **options)
      @certificate = Support::TestCertificate.new("localhost")
      args = ["--cable", "/cable", "--cable-history", "60", *CONTROL_SOCKET]
      @server = rails(workers: 1, threads: 1, args:, files: { **@certificate.files, **files },
                      binds: ["tcp://127.0.0.1:0", "tls://127.0.0.2:0?cert=server.crt&key=server.key"], **options)
    end

    def plain(name: "ann")
      Member.new { |fields| open(@server.connect, name, fields) }
    end

    def tls(name: "ann")
      Member.new do |fields|
        open(Support::TlsClient.connect(@server, trust: @certificate.certificate, nth: 1), name, fields)
      end
    end

    def open(client, name, fields)
      Support::WebSocketClient.new(client, "/cable?name=#{name}", ORIGIN.merge(fields))
    end

    def say_and_hear(member, number)
      post(number)
      member.listen_until(number)
    end

    # All hear it.
    def say_to(members, member, text)
      say(member, text)
      counts = members.map { |it| it.texts.size }
      members.zip(counts) { |it, count| it.hear until it.texts.size > count }
    end

    def post(number)
      broadcast(@server, "text" => number.to_s)
    end

    def await_sockets(count)
      eventually { stats(@server).fetch("sockets") == count }
    end

    # Upgrades when the old edge of the upgrade before has ended.
    def upgrade
      eventually { carat(@server, "upgrade").last.zero? }
    end
  end
end
