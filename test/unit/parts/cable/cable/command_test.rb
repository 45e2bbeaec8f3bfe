# frozen_string_literal: true

require "test_helper"

module Carat
  class CableCommandTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    def test_a_subscription_starts_streams_and_is_confirmed
      result = subscribe("RoomChannel")

      assert_equal "confirmed", result["subscription"]
      assert_equal ["room", "room:#{Person.new("ann").to_gid_param}"], result["start"]
      assert_equal [{ "identifier" => identifier("RoomChannel"), "type" => "confirm_subscription" }], sent(result)
    end

    def test_a_rejected_subscription_starts_nothing
      result = subscribe("RoomChannel", closed: true)

      assert_equal "rejected", result["subscription"]
      assert_equal(["reject_subscription"], sent(result).map { |text| text["type"] })
      assert_nil result["state"]
      assert_equal true, result["stop_all"]
    end

    def test_variables_of_a_channel_survive_the_command
      state = subscribe("RoomChannel")["state"]
      first = perform("RoomChannel", "say", state:, text: "a")
      second = perform("RoomChannel", "say", state: first["state"], text: "b")

      assert_equal [{ "identifier" => identifier("RoomChannel"), "message" => { "count" => 2 } }], sent(second)
      assert_equal [["room", { "text" => "b", "count" => 2, "locale" => "de" }]], broadcasts(second)
      assert_empty @control.broadcasts
      assert_equal [%w[before after]], messages(perform("RoomChannel", "order", state:))
    end

    def test_a_state_that_has_not_changed_is_left_out
      state = subscribe("RoomChannel")["state"]

      refute perform("RoomChannel", "order", state:).key?("state")
    end

    def test_variables_of_a_connection_survive_the_command
      record = connected
      result = perform("RoomChannel", "visit", record:)

      assert_equal [1], messages(result)
      assert_equal [2], messages(perform("RoomChannel", "visit", record: result.fetch("connection")))
      refute perform("RoomChannel", "move", record:).key?("connection")
    end

    def test_streams_end_and_begin_in_a_command
      assert_equal({ "stop" => ["room"], "start" => ["hall"] },
                   perform("RoomChannel", "move").slice("stop", "start", "stop_all"))
      assert_equal({ "stop_all" => true, "start" => ["late"] },
                   perform("RoomChannel", "silence").slice("stop", "start", "stop_all"))
    end

    def test_an_unsubscription_calls_the_channel
      state = subscribe("RoomChannel")["state"]
      result = command("command" => "unsubscribe", "connection" => connected, "state" => state,
                       "identifier" => identifier("RoomChannel"))

      assert_equal [["room", "ann left after 0"]], broadcasts(result)
    end

    def test_the_end_of_a_socket_calls_each_channel_and_the_connection
      state = subscribe("RoomChannel")["state"]
      subscriptions = [{ "identifier" => identifier("RoomChannel"), "state" => state },
                       { "identifier" => identifier("WaitingChannel"), "state" => nil }]
      result = command("command" => "close", "connection" => connected, "subscriptions" => subscriptions)

      assert_equal [["room", "ann left after 0"], ["doors", "ann left"]], broadcasts(result)
    end

    def test_a_channel_that_cannot_be_restored_does_not_keep_the_others_from_their_end
      subscriptions = [{ "identifier" => identifier("GoneChannel"), "state" => nil },
                       { "identifier" => identifier("RoomChannel"), "state" => '{"@count":7}' }]
      response = post("command" => "close", "connection" => connected, "subscriptions" => subscriptions)

      assert_equal 500, response.status
      assert_equal [["room", "ann left after 7"], ["doors", "ann left"]], broadcasts(JSON.parse(response.body))
    end

    def test_a_confirmation_that_is_deferred_comes_with_a_later_command
      waiting = subscribe("WaitingChannel")
      result = perform("WaitingChannel", "confirm", state: waiting["state"])

      assert_equal ["pending", []], [waiting["subscription"], sent(waiting)]
      assert_equal(["confirm_subscription"], sent(result).map { |text| text["type"] })
      assert_equal ["confirmed", nil], [result["subscription"], result.fetch("state")]
      assert_empty sent(perform("WaitingChannel", "confirm"))
    end

    def test_a_channel_can_close_the_socket
      result = perform("RoomChannel", "quit")

      assert_equal({ "reason" => "enough", "reconnect" => false }, result["close"])
      assert_equal ["bye"], messages(result)
    end

    def test_a_channel_that_ends_itself_has_no_state
      result = perform("RoomChannel", "leave", state: '{"@count":1}')

      refute result.key?("state")
      assert_equal true, result["stop_all"]
    end

    def test_an_unknown_channel_is_not_subscribed
      result = post("command" => "subscribe", "connection" => connected, "identifier" => identifier("Object"))

      refute JSON.parse(result.body).key?("subscription")
      assert_match(/(class|Channel) not found/, log)
    end

    def test_an_action_that_there_is_not_is_logged
      assert_empty sent(perform("RoomChannel", "nonsense"))
      assert_match(/Unable to process RoomChannel#nonsense/, log)
    end

    def test_loggers_keep_the_tags_of_the_handshake
      perform("RoomChannel", "nonsense")

      assert_equal %w[Cable ann], JSON.parse(connected).fetch("t")
    end

    def test_callbacks_surround_a_command
      skip "Rails 7.0 has none" unless ActionCable::Connection::Base.respond_to?(:before_command)

      seen = []
      ApplicationCable::Connection.around_command do |connection, command|
        seen << connection.person.id
        command.call
      end
      perform("RoomChannel", "order")

      assert_equal ["ann"], seen
    ensure
      ApplicationCable::Connection.reset_callbacks(:command) if seen
    end

    def test_current_attributes_do_not_survive_a_command
      assert_equal [nil, nil], Array.new(2) { messages(perform("RoomChannel", "current")).first }
    end

    def test_a_worker_is_within_its_callbacks
      seen = nil
      callback = ->(worker) { seen = worker.connection.person }
      ActionCable::Server::Worker.set_callback(:work, :before, callback)
      perform("RoomChannel", "order")

      assert_equal Person.new("ann"), seen
    ensure
      ActionCable::Server::Worker.skip_callback(:work, :before, callback)
    end

    def test_notifications_are_sent
      seen = []
      subscriber = ActiveSupport::Notifications.subscribe(/action_cable/) { |name, *| seen << name[/\w+/] }
      perform("RoomChannel", "say", state: '{"@count":1}')

      assert_equal %w[broadcast perform_action transmit], seen.sort
    ensure
      ActiveSupport::Notifications.unsubscribe(subscriber)
    end

    private

    def messages(result)
      sent(result).filter_map { |text| text["message"] if text.key?("message") }.then do |all|
        all.empty? ? sent(result).map { |text| text["message"] } : all
      end
    end

    def broadcasts(result)
      result.fetch("broadcasts", []).map { |stream, payload| [stream, JSON.parse(payload)] }
    end
  end
end
