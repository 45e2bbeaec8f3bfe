# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require_relative "../../../../bench/lib/bench"

class BenchEventClientsTest < Minitest::Test
  HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  def test_events_are_counted_by_those_who_receive_them
    TCPServer.open("127.0.0.1", 0) do |listener|
      clients = Bench::EventClients.new(listener.addr[1])
      server = Thread.new { serve(listener) }
      assert_equal 2, clients.open(count: 2)
      received, milliseconds = clients.publish(text: "now")
      server.join

      assert_equal 2, received
      assert_operator milliseconds, :>, 0
    end
  end

  private

  # Begins two streams, and sends the event to both, cut in two.
  def serve(listener)
    streams = Array.new(2) { listener.accept.tap { |socket| socket.write("#{HEAD}a\r\n: begun\n\n\r\n") } }
    publisher = listener.accept
    publisher.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")
    streams.each { |socket| socket.write("b\r\ndata: n") }
    streams.each { |socket| socket.write("ow\n\n\r\n") }
  end
end
