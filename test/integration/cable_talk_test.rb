# frozen_string_literal: true

require "test_helper"
require "support/cable_app"
require "support/cable_server"
require "support/needs"

module Carat
  # What clients of the option `cable` tell each other without the application.
  class CableTalkTest < Support::IntegrationTest
    extend Support::Needs
    include Support::CableServer
    needs Support::CableApp.obstacle

    KEPT = { workers: 1, threads: 1, args: ["--cable", "/cable", "--cable-history", "60", *CONTROL_SOCKET] }.freeze
    LOBBY = JSON.generate("channel" => "LobbyChannel")
    TYPING = JSON.generate("channel" => "TypingChannel")

    def test_whispers_reach_the_others_without_the_application
      server = rails(workers: 1, threads: 1)
      ann, ben = %w[ann ben].map { |name| subscriber(server, name, channel: TYPING) }
      listener = subscriber(server, "cid")
      received = stats(server).fetch("received")
      whisper(ann, { "text" => "grüße" })
      assert_equal({ "identifier" => TYPING, "message" => { "text" => "grüße" } }, reply(ben))
      assert_equal({ "identifier" => ROOM, "message" => { "text" => "grüße" } }, reply(listener))
      assert_equal received + 1, stats(server).fetch("received")
      whisper(listener, { "text" => "may not" }, channel: ROOM)
      whisper(ben, { "text" => "two" })

      assert_equal ["two"] * 2, [heard(ann), heard(listener)], "ann has heard nothing of her own"
    end

    def test_whispers_go_on_through_restarts_dead_workers_and_upgrades
      server = rails(workers: 1, threads: 1)
      ann, ben = %w[ann ben].map { |name| subscriber(server, name, channel: TYPING) }
      [-> { carat(server, "restart") }, -> { Process.kill(:KILL, *server.workers.values) },
       -> { carat(server, "upgrade") }].each_with_index do |event, number|
        event.call
        whisper(ann, { "text" => number })
        assert_equal number, heard(ben)
      end
      whisper(ben, { "text" => "back" })

      assert_equal "back", heard(ann)
    ensure
      carat(server, "stop") if server
    end

    # The other half of what may wait for a client is for what the application sends.
    def test_a_flood_of_whispers_disconnects_nobody
      server = rails(workers: 1, threads: 1)
      connection = server.connect
      connection.socket.setsockopt(:SOCKET, :RCVBUF, 4096)
      slow = Support::WebSocketClient.new(connection, "/cable?name=slow", ORIGIN)
      slow.json("command" => "subscribe", "identifier" => ROOM)
      slow.read_json { |message| message["type"] == "confirm_subscription" }
      ann = subscriber(server, "ann", channel: TYPING)
      150.times { whisper(ann, { "filler" => "x" * 40_000 }) }
      eventually { stats(server).fetch("received") >= 152 }
      broadcast(server, "text" => "from the application")

      assert_equal 0, stats(server).fetch("slow")
      slow.read_json { |message| message.dig("message", "text") == "from the application" if message["identifier"] }
    end

    def test_clients_know_who_is_present_through_restarts_and_dead_workers
      server = rails(**KEPT)
      ann, ben = %w[ann ben].map { |name| visitor(server, name) }
      ann.json("command" => "join", "identifier" => LOBBY, "presence" => { "id" => "7", "info" => { "name" => "Änn" } })
      join = { "type" => "join", "info" => { "name" => "Änn" }, "id" => "7" }
      assert_equal [join] * 2, [ann, ben].map { |client| presence(client) }
      carat(server, "restart")
      Process.kill(:KILL, *server.workers.values)
      cid = visitor(server, "cid", presence: { "id" => "cid" })
      [ann, ben, cid].each { |client| assert_equal({ "type" => "join", "id" => "cid" }, presence(client)) }
      cid.json("command" => "presence", "identifier" => LOBBY)
      list = { "type" => "info", "total" => 2, "records" => [join.except("type"), { "id" => "cid" }] }
      assert_equal list, presence(cid)
      ann.json("command" => "unsubscribe", "identifier" => LOBBY)

      assert_equal [{ "type" => "leave", "id" => "7" }] * 2, [ben, cid].map { |client| presence(client) }
    end

    # The plain protocol has no presence; what a channel says of its clients counts all the same.
    def test_a_channel_says_who_is_present_and_who_is_cut_off_leaves_later
      server = rails(**KEPT)
      ben = visitor(server, "ben")
      named = JSON.generate("channel" => "LobbyChannel", "named" => true)
      ann = subscriber(server, "ann", channel: named)
      assert_equal({ "type" => "join", "info" => { "named" => true }, "id" => "ann" }, presence(ben))
      cid = subscriber(server, "cid", channel: named)
      assert_equal "cid", presence(ben)["id"]
      cid.json("command" => "message", "identifier" => named, "data" => '{"action":"leave"}')
      assert_equal({ "type" => "leave", "id" => "cid" }, presence(ben))
      ann.close
      ben.json("command" => "presence", "identifier" => LOBBY)
      assert_equal ["info", 1], presence(ben).values_at("type", "total")

      assert_equal({ "type" => "leave", "id" => "ann" }, presence(ben))
    end

    private

    # A client of the extended protocol.
    def visitor(server, name, presence: nil)
      client = socket(server, name, "Sec-WebSocket-Protocol" => "actioncable-v1-ext-json")
      assert_equal "welcome", reply(client)["type"]
      client.json({ "command" => "subscribe", "identifier" => LOBBY, "presence" => presence }.compact)
      assert_equal({ "identifier" => LOBBY, "type" => "confirm_subscription" }, reply(client))
      client
    end

    # What the client hears next of who is present.
    def presence(client)
      message = client.read_json { |it| it["type"] == "presence" }
      assert_equal LOBBY, message["identifier"]
      message["message"]
    end

    def whisper(client, data, channel: TYPING)
      client.json("command" => "whisper", "identifier" => channel, "data" => data)
    end
  end
end
