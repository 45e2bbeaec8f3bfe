# frozen_string_literal: true

require "test_helper"

module Carat
  class CableFailureTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    def test_what_a_command_did_before_it_failed_is_carried_out
      result = failed(order("RoomChannel", "fail_now", state: '{"@count":1}'))

      assert_equal [["room:#{Person.new("ann").to_gid_param}", '"before"']], result["broadcasts"]
      refute result.key?("state")
      assert_match(/failed on purpose/, log)
    end

    # As in Action Cable: it is never confirmed, and has its streams, and later commands.
    def test_a_subscription_that_fails_stays_without_a_confirmation
      result = failed("command" => "subscribe", "connection" => connected, "identifier" => identifier("BrokenChannel"))

      assert_equal({ "start" => ["broken"], "state" => '{"waits":1}', "subscription" => "pending" }, result)
      assert_match(/no such room/, log)
    end

    def test_an_exception_that_the_channel_rescues_fails_nothing
      assert_equal(["sorry"], sent(perform("RescuingChannel", "ask")).map { |text| text["message"] })
    end

    def test_an_exception_that_the_connection_rescues_has_failed_the_command
      assert_equal [{ "rescued" => "wrong" }], sent(failed(order("RoomChannel", "rescued")))
    end

    def test_the_request_of_the_handshake_is_not_there_later
      %w[cookie agent].each do |action|
        failed(order("RoomChannel", action))
        assert_match(/Carat::Cable::NoRequestError\W+the request that opened the socket is over: keep/, log)
      end
    end

    def test_a_variable_that_cannot_be_kept_undoes_the_command
      response = post(order("RoomChannel", "remember"))

      assert_equal [500, ""], [response.status, response.body]
      assert_match(/RoomChannel: @file holds an IO, which cannot be kept between two commands/, log)
    end

    def test_too_many_variables_undo_the_command
      response = post(order("RoomChannel", "order", state: JSON.generate("@text" => "x" * 5000)))

      assert_equal [500, ""], [response.status, response.body]
      assert_match(/RoomChannel: the instance variables have \d+ bytes, and 4096 can be kept/, log)
    end

    def test_a_record_that_is_gone_fails_the_command
      response = post(order("RoomChannel", "order", state: '{"@guest":{"g":"gid://shop/Person/gone"}}'))

      assert_equal [500, ""], [response.status, response.body]
      assert_match(/KeyError\(no person gone\)/, log)
    end

    def test_a_thread_of_a_command_broadcasts_by_itself
      result = perform("RoomChannel", "later")

      refute result.key?("broadcasts")
      assert_equal [['"from a thread"']], @control.broadcasts.map { |_stream, payload| [payload] }
    end

    def test_nothing_can_be_sent_after_a_command
      perform("RoomChannel", "later")
      error = assert_raises(Cable::Error) { CurrentPerson.outlives.call("late") }

      assert_equal "a command has ended: broadcast what comes later", error.message
    end

    private

    # Returns the result of a command that fails.
    def failed(order)
      response = post(order)
      assert_equal 500, response.status
      JSON.parse(response.body)
    end
  end
end
