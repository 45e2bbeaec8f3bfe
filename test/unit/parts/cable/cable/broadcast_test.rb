# frozen_string_literal: true

require "socket"
require "test_helper"
require "tmpdir"

module Carat
  class CableBroadcastTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    def teardown
      server.config.cable.delete(:channel_prefix)
    end

    def test_a_broadcast_outside_of_a_command_goes_to_the_edge
      server.broadcast("room", { "text" => "grüße" })
      RoomChannel.broadcast_to("hall", [1])

      assert_equal [["room", '{"text":"grüße"}'], ["room:hall", "[1]"]], @control.broadcasts
    end

    def test_connections_are_ended_remotely
      server.remote_connections.where(person: Person.new("ann"), locale: :de).disconnect
      stream, message = @control.broadcasts.first

      assert_equal [open["internal"], "disconnect"], [stream, JSON.parse(message)["type"]]
    end

    def test_a_prefix_is_that_of_broadcasts_and_of_streams
      server.config.cable[:channel_prefix] = "blog"
      server.broadcast("room", 1)

      assert_equal [["blog:room", "1"]], @control.broadcasts
      assert_equal "blog:room", subscribe("RoomChannel")["start"].first
      assert_equal ["blog:room"], perform("RoomChannel", "move")["stop"]
      assert_match(%r{\Ablog:action_cable/}, open["internal"])
    end

    def test_a_process_that_no_server_has_forked_is_told_so
      join(nil)
      error = assert_raises(Cable::Error) { server.broadcast("room", 1) }

      assert_match(/\Athis process does not belong to a server with the option `cable`.*`carat run`/, error.message)
    end

    def test_what_the_application_forks_uses_the_control_socket_of_the_server
      with_control_socket(@control) do |listener|
        pid = fork do
          server.broadcast("room", "grüße")
          exit!(0)
        ensure
          exit!(1)
        end
        request = answer(listener, "200 OK")
        Process.wait(pid)

        assert_equal "POST /broadcast HTTP/1.1", request.lines.first.chomp
        assert request.end_with?("\r\n\r\n{\"stream\":\"room\",\"message\":\"grüße\",\"local\":true}"), request
        assert_predicate Process.last_status, :success?
      end
    end

    def test_a_refusal_of_the_server_is_an_error_with_its_reason
      { ["409 Conflict", '{"error":"no cable"}'] => "no cable",
        ["404 Not Found", "404 Not Found\n"] => "the server has no cable (option `cable`)" }.each do |response, reason|
        with_control_socket(nil) do |listener|
          thread = Thread.new { answer(listener, *response) }

          assert_equal reason, assert_raises(Cable::Error) { server.broadcast("room", 1) }.message
          thread.join
        end
      end
    end

    def test_a_broadcast_that_the_edge_refuses_raises
      @control.takes = false

      assert_raises(Cable::Error) { server.broadcast("room", 1) }
    end

    def test_what_is_too_long_or_no_text_is_refused_at_once
      [["r" * 1025, 1], ["room", "x" * (1024 * 1024)], ["\xFF", 1]].each do |stream, message|
        assert_raises(Cable::Error) { server.broadcast(stream, message) }
      end
      assert_empty @control.broadcasts
    end

    def test_a_command_that_sends_without_end_fails
      result = Cable.const_get(:Result).new
      result.broadcast("room", "\"" * 1_999_950)
      assert_operator result.response.last.first.bytesize, :<, 4 * 1024 * 1024

      error = assert_raises(Cable::Error) { 3.times { result.transmit("1") } }
      assert_equal "one command sends more than 2000000 bytes", error.message
    end

    def test_a_process_cannot_subscribe
      assert_raises(Cable::Error) { server.pubsub.subscribe("room", ->(_message) {}) }
      assert_nil server.restart
    end

    private

    # Yields the listener of the server's control socket.
    def with_control_socket(control)
      Dir.mktmpdir do |directory|
        path = File.join(directory, "carat.sock")
        listener = UNIXServer.new(path)
        join(control, path:)
        yield listener
      end
    end

    # Answers one request, and returns it.
    def answer(listener, status, body = "{}")
      socket = listener.accept
      request = socket.readpartial(4096)
      socket.write("HTTP/1.1 #{status}\r\ncontent-type: application/json\r\n\r\n#{body}")
      request.force_encoding("UTF-8")
    ensure
      socket&.close
    end

    def server
      ActionCable.server
    end
  end
end
