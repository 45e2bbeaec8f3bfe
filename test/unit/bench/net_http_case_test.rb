# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require_relative "../../../bench/lib/net_http_case"
require_relative "../../../bench/lib/net_http_client"

class BenchNetHttpCaseTest < Minitest::Test
  def test_every_way_makes_as_many_requests_as_it_is_told
    server = TCPServer.new("127.0.0.1", 0)
    keeper = Thread.new { loop { answer(server.accept) } }
    client = Bench::NetHttpClient.new(server.addr[1])
    %w[ruby-blocking ruby-threads carat-run].each do |way|
      figures = client.run(way: way, path: "/delay/0", number: 20)

      assert_equal 20, figures.fetch(:right), way
      assert_operator figures.fetch(:bytes), :>=, 0, way
    end
  ensure
    keeper&.kill
  end

  def test_what_is_slower_than_asked_is_marked
    table = table("carat-run" => 0.5, "async" => 0.4, "ruby-threads" => 1.0)

    assert_includes table, "|    carat-run |        4 |   0.500 |     8 |     8-8 | **2.00 (>= 2.2) missed** |"
    assert_includes table, "**0.80 (>= 1) missed**"
    assert_includes table, "1.00"
  end

  def test_without_the_async_gem_nothing_is_asked_beside_it
    refute_includes table("carat-run" => 0.1, "ruby-threads" => 1.0), "missed"
  end

  private

  def table(seconds)
    bounds = { "ruby-threads" => Bench::Bound.at_least(2.2), "async" => Bench::Bound.at_least(1) }
    samples = seconds.to_h do |name, time|
      sample = Bench::NetHttpCase::Sample.new(requests: 4, seconds: time, bytes: 0, right: 4)
      [Bench::Roster.named([name]).first, [{ 10 => sample }]]
    end
    Bench::NetHttpCase.new(title: "", number: 4, delays: { 10 => bounds }, peers: []).table(samples).to_s
  end

  def answer(client)
    client.gets("\r\n\r\n")
    client.write("HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\nHello, World!")
    client.close
  end
end
