# frozen_string_literal: true

require "test_helper"

# Clients that read nothing of their answers, or not at once: the worker is free, and little is held for them.
class SlowReaderTest < Support::SharedServerTest
  BYTES = 3_000_000
  STREAMED = 100 * 1024 * 1024
  # The kernel takes little of an answer for a client with so small a buffer.
  RECEIVE_BUFFER = 16 * 1024
  KIB_FOR_A_CLIENT = 96

  APP = <<~'RUBY'
    content = ("0123456789abcdef" * 187_500).freeze
    piece = ("x" * 65_536).freeze
    File.binwrite("content", content)
    Named = Struct.new(:to_path)
    # As Rack::BodyProxy is in Rack 3.
    Listed = Struct.new(:to_ary) do
      def each = raise("iterated")
      def closed? = false
    end
    Pieces = Struct.new(:piece, :name) do
      def each = 1600.times { yield piece }
      def close = $stderr.puts("closed #{name}")
    end
    answers = {
      "/string" => -> { [content] },
      "/array" => -> { Array.new(60) { |nth| content[nth * 50_000, 50_000] } },
      "/listed" => -> { Listed.new([content]) },
      "/file" => -> { Named.new("content") },
      "/stream" => -> { Pieces.new(piece, "/stream") },
      "/left" => -> { Pieces.new(piece, "/left") }
    }
    run ->(env) { [200, {}, answers.fetch(env["PATH_INFO"], -> { [env["PATH_INFO"]] }).call] }
  RUBY

  serves APP, threads: 1

  %w[string array listed file].each do |kind|
    define_method("test_the_only_thread_is_free_while_clients_do_not_read_#{kind}") do
      slow = Array.new(10) { not_reading("/#{kind}") }

      assert_equal "/next", server.get("/next").body
      assert_equal [BYTES] * 10, slow.map { |client| client.read_response.body.bytesize }
    end
  end

  def test_little_is_held_for_a_client_that_does_not_read
    server.get("/string")
    edge, worker = memory(server)
    before = descriptors
    slow = Array.new(250) { not_reading("/string") }

    assert_equal "/next", server.get("/next").body
    assert_operator memory(server)[0] - edge, :<=, 250 * KIB_FOR_A_CLIENT
    assert_operator memory(server)[1] - worker, :<=, 2048
    slow.each(&:reset)
    eventually { assert_operator descriptors, :<=, before }
  end

  def test_a_long_stream_takes_no_memory_whether_its_client_reads_or_not
    discard(connect.write("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"), STREAMED)
    before = memory(server)
    client = not_reading("/stream")
    while_waiting = memory(server)
    discard(client, STREAMED)

    assert_flat before, while_waiting
    assert_flat before, memory(server)
  end

  def test_a_stream_is_closed_when_its_client_leaves
    client = not_reading("/left")
    client.reset

    eventually { assert_includes log, "closed /left" }
    assert_equal "/next", server.get("/next").body
  end

  private

  # A client whose answer has begun to arrive.
  def not_reading(path)
    @clients << client = connect_narrowly(server, receive_buffer: RECEIVE_BUFFER)
    client.request("GET", path)
    assert client.socket.wait_readable(Support::RawClient::WITHIN), "no answer"
    client
  end

  # Reads bytes and keeps none.
  def discard(client, bytes)
    bytes -= client.read_exactly([bytes, 65_536].min).bytesize while bytes.positive?
  end

  def assert_flat(before, after)
    before.zip(after) { |was, is| assert_operator is - was, :<=, 2048 }
  end
end
