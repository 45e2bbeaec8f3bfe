# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require_relative "../../../../bench/lib/bench"

class BenchIdleClientsTest < Minitest::Test
  def test_all_requests_are_sent_before_the_first_response
    TCPServer.open("127.0.0.1", 0) do |listener|
      clients = Bench::IdleClients.new(listener.addr[1])
      assert_equal 3, clients.send_all(count: 3, path: "/sleep?1")
      served = Array.new(3) { listener.accept }
      assert(served.all? { |socket| socket.gets == "GET /sleep?1 HTTP/1.1\r\n" })

      served[0].write("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n1.5 2.5")
      served[1].write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
      served.each(&:close)
      assert_equal [[1.5, 2.5]], clients.times
    end
  end
end
