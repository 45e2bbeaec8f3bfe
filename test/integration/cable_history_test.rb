# frozen_string_literal: true

require "test_helper"

module Carat
  # Clients of the protocol actioncable-v1-ext-json, which come back and get what they have missed.
  class CableHistoryTest < Support::IntegrationTest
    include Support::CableServer
    needs Support::CableApp.obstacle

    EXTENDED = { "Sec-WebSocket-Protocol" => "actioncable-v1-ext-json" }.freeze
    SESSION = "X-AnyCable-Restore-Sid"
    CONFIRMED = { "identifier" => ROOM, "type" => "confirm_history" }.freeze

    def test_a_client_that_was_cut_off_gets_what_it_missed_once_and_in_order
      server = rails(**kept)
      ann = member(server)
      count(server, 1)
      position = position(reply(ann))
      ann.close
      count(server, 2, 3)
      assert_equal 0, carat(server, "restart").last
      count(server, 4)
      ann = member(server, history: position)

      assert_equal [2, 3, 4], numbers(ann, 3)
      assert_equal CONFIRMED, reply(ann)
      count(server, 5)
      assert_equal [5], numbers(ann, 1)
    end

    def test_a_client_that_comes_back_goes_on_with_its_subscriptions
      server = rails(**kept)
      ann = member(server)
      say(ann, "one")
      position = position(reply(ann))
      ann.close
      count(server, 1)
      back = return_of(@sid, server)
      assert_equal [ROOM], @welcome.values_at("restored", "restored_ids").last
      back.json("command" => "history", "identifier" => ROOM, "history" => position)

      assert_equal [1, CONFIRMED], [*numbers(back, 1), reply(back)]
      say(back, "two")
      assert_equal "ann: one two", heard(back)
      assert_nil return_of("0" * 32, server) && @welcome["restored"]
    end

    def test_a_client_that_comes_back_takes_the_place_of_its_old_socket
      server = rails(**kept)
      old = member(server)
      back = return_of(@sid, server)

      assert_equal true, @welcome["restored"]
      assert_nil old.read_text
      count(server, 1)
      assert_equal [1], numbers(back, 1), "without having asked"
    end

    def test_who_leaves_or_stays_away_has_unsubscribed
      server = rails(**kept(seconds: 2))
      ben = subscriber(server, "ben")
      member(server).write([0x88, 0x82, 0, 0, 0, 0, 1001].pack("C6S>"))
      assert_equal "ann left after 0", heard(ben)
      cid = member(server, name: "cid")
      doors = subscribed_to_doors(server)
      cid.close
      assert_equal "cid is gone", heard(doors)
      assert_equal "cid left after 0", heard(ben)
      return_of(@sid, server, name: "cid")
      assert_nil @welcome["restored"]
    end

    def test_without_the_option_the_extended_protocol_is_not_offered
      server = rails(workers: 1, threads: 1)
      client = socket(server, "ann", **EXTENDED)

      assert_predicate client, :accepted?
      assert_nil client.response["sec-websocket-protocol"]
    end

    private

    def kept(*args, seconds: 60)
      { workers: 1, threads: 1, args: ["--cable", "/cable", "--cable-history", seconds.to_s, *args, *CONTROL_SOCKET] }
    end

    # A socket of a client that was connected before.
    def return_of(sid, server, name: "ann")
      client = socket(server, name, **EXTENDED, SESSION => sid)
      @welcome = reply(client)
      client
    end

    def subscribed_to_doors(server)
      client = welcome(server, "dan")
      client.json("command" => "subscribe", "identifier" => JSON.generate("channel" => "DoorsChannel"))
      assert_equal "confirm_subscription", reply(client)["type"]
      client
    end

    def member(server, name: "ann", history: nil)
      client = socket(server, name, **EXTENDED)
      assert_equal "actioncable-v1-ext-json", client.response["sec-websocket-protocol"]
      @sid = reply(client).fetch("sid")
      client.json({ "command" => "subscribe", "identifier" => ROOM, "history" => history }.compact)
      assert_equal({ "identifier" => ROOM, "type" => "confirm_subscription" }, reply(client))
      client
    end

    def count(server, *numbers)
      numbers.each { |number| broadcast(server, "number" => number) }
    end

    # What a client says of the last message that it has.
    def position(message)
      stream, *position = message.values_at("stream_id", "epoch", "offset")
      { "since" => Time.now.to_i, "streams" => { stream => %w[epoch offset].zip(position).to_h } }
    end

    # Beside pings and who has left.
    def numbers(client, count)
      Array.new(count) { client.read_json { |it| it.to_s.include?("number") }.dig("message", "number") }
    end
  end
end
