# frozen_string_literal: true

require "test_helper"

module Carat
  class CableHandshakeTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    def test_an_accepted_connection_is_welcome_and_recorded
      result = open

      assert_equal [{ "type" => "welcome" }], sent(result)
      assert_equal "action_cable/#{Person.new("ann").to_gid_param}:de", result["internal"]
      assert_equal %w[connection internal send], result.keys.sort
      assert_match(/Registered connection/, log)
    end

    def test_what_connect_transmits_comes_before_the_welcome
      assert_equal [{ "hello" => "ann" }, { "type" => "welcome" }], sent(open("/cable?name=ann&hello=1"))
    end

    def test_a_connection_that_is_rejected_is_closed_for_good
      assert_equal({ "close" => { "reason" => "unauthorized", "reconnect" => false } }, open("/cable"))
    end

    def test_a_foreign_origin_gets_404
      response = handshake("/cable?name=ann", HTTP_ORIGIN: "http://elsewhere.test")

      assert_equal [404, "Page not found"], [response.status, response.body]
      assert_match(%r{Request origin not allowed: http://elsewhere.test}, log)
    end

    def test_an_identifier_that_cannot_be_kept_is_named
      error = assert_raises(Cable::Error) { Support::CableApp.instance.call(env_of("/cable?name=ann&odd=1")) }

      assert_match(/\AApplicationCable::Connection: @odd holds an IO, which cannot be kept/, error.message)
    end

    def test_neither_a_connection_nor_a_thread_stays_in_the_process
      threads = Thread.list
      subscribe("RoomChannel", open.fetch("connection"))

      assert_empty ActionCable.server.connections
      assert_empty Thread.list - threads
    end

    def test_a_handshake_that_came_in_another_way_is_refused_with_path_and_option
      env = env_of("/sockets?name=ann").merge("carat.part" => nil, "HTTP_UPGRADE" => "WebSocket")

      assert_equal 404, ActionCable.server.call(env).first
      assert_match(%r{refused a WebSocket at /sockets: the option cable takes handshakes at /cable, without}, log)
    end

    def test_a_request_without_the_flag_is_one_of_action_cable_itself
      assert_equal 404, handshake("carat.part": nil, HTTP_UPGRADE: nil).status
      assert_match(/Failed to upgrade to WebSocket/, log)
    end

    private

    # Without the middleware, which turns exceptions into pages.
    def env_of(target)
      Rack::MockRequest.env_for(target, "HTTP_ORIGIN" => Support::CableApp::ORIGIN, "carat.part" => true)
    end
  end
end
