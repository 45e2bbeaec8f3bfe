# frozen_string_literal: true

require "test_helper"

class HijackExampleTest < Support::IntegrationTest
  CHAT = File.expand_path("../../examples/hijack/config.ru", __dir__)

  def test_members_hear_each_other_come_talk_and_go
    server = server(app: nil, workers: 1, threads: 1, args: [CHAT]).start
    assert_includes server.get.body, "new WebSocket"
    ann, ben = Array.new(2) { member(server) }
    assert_equal "somebody has joined: 2 here", ann.read_text
    ben.text("hello")

    assert_equal %w[hello hello], [ann, ben].map(&:read_text)
    ben.close
    assert_equal "somebody has left: 1 here", ann.read_text
  end

  private

  def member(server)
    socket = Support::WebSocketClient.new(server.connect, "/")
    assert_predicate socket, :accepted?
    assert_match(/\Asomebody has joined/, socket.read_text)
    socket
  end
end
