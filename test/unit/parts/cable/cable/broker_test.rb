# frozen_string_literal: true

require "test_helper"

module Carat
  class CableBrokerTest < Minitest::Test
    include Support::CableBroker
    needs Support::CableApp.obstacle

    def test_a_broadcast_goes_to_the_broker_alone
      ActionCable.server.broadcast("room", { "text" => "grüße" })

      assert_equal [["shop:carat", '["shop:room","{\"text\":\"grüße\"}"]']], messages
      assert_empty @control.broadcasts
    end

    def test_a_process_outside_of_a_server_broadcasts
      join(nil)
      ActionCable.server.broadcast("room", 1)

      assert_equal [["shop:carat", '["shop:room","1"]']], messages
    end

    def test_broadcasts_of_a_command_go_when_it_has_ended
      result = perform("RoomChannel", "say", text: "hello", state: '{"@count":1}')

      refute result.key?("broadcasts")
      assert_equal '{"@count":2}', result["state"]
      assert_equal(["shop:room"], messages.map { |_channel, text| JSON.parse(text).first })
    end

    def test_what_the_edge_was_asked_to_broadcast_goes_to_the_broker
      order = { "command" => "broadcast", "stream" => "shop:room", "message" => "[1]" }

      assert_equal [200, "{}"], post(order).then { |response| [response.status, response.body] }
      assert_equal [["shop:carat", '["shop:room","[1]"]']], messages
      assert_equal [500, ""], post(order.merge("message" => '"fails"')).then { |it| [it.status, it.body] }
    end

    def test_a_command_that_is_undone_has_broadcast_nothing
      post(order("RoomChannel", "say", text: "hello", state: JSON.generate("@text" => "x" * 5000, "@count" => 1)))

      assert_empty messages
    end

    def test_a_lost_broker_fails_the_command_but_not_what_the_client_gets
      response = post(order("RoomChannel", "say", text: "fails", state: '{"@count":1}'))
      result = JSON.parse(response.body)

      assert_equal [500, '{"@count":2}'], [response.status, result["state"]]
      assert_equal([{ "count" => 2 }], sent(result).map { |message| message["message"] })
      assert_match(/IOError\(the broker is gone\)/, log)
    end

    def test_a_forked_process_has_connections_of_its_own
      own = broker
      reader, writer = IO.pipe
      Process.wait(fork { writer.write(broker.equal?(own)) && exit!(0) })
      writer.close

      assert_equal "false", reader.read
      assert_same own, broker
    end

    def test_there_is_none_without_the_key
      config.delete(:through)

      assert_nil broker
      error = assert_raises(Cable::Error) { Cable.relay }
      assert_equal "config/cable.yml names no broker: add the key through, such as through: redis", error.message
    end
  end
end
