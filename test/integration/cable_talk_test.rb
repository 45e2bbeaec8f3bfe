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

    private

    def whisper(client, data, channel: TYPING)
      client.json("command" => "whisper", "identifier" => channel, "data" => data)
    end
  end
end
