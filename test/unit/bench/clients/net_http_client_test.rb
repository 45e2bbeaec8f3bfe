# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require_relative "../../../../bench/lib/bench"

class BenchNetHttpClientTest < Minitest::Test
  def test_every_way_makes_all_requests
    server = TCPServer.new("127.0.0.1", 0)
    responder = Thread.new { loop { respond(server.accept) } }
    client = Bench::NetHttpClient.new(server.addr[1])
    %w[ruby-blocking ruby-threads carat-run].each do |way|
      result = client.run(way: way, path: "/delay/0", number: 20)

      assert_equal 20, result.fetch(:right), way
      assert_operator result.fetch(:growth_mb), :>=, 0, way
    end
  ensure
    responder&.kill
  end

  private

  def respond(client)
    client.gets("\r\n\r\n")
    client.write("HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\nHello, World!")
    client.close
  end
end
