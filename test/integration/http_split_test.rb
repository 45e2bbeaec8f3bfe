# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/probe"
require "support/shared_server_test"

# Requests that reach the server in pieces, cut at every place. The client sends on a Unix socket, which tells when the
# server has read a piece.
class HttpSplitTest < Support::SharedServerTest
  # 11 bytes each, in two chunks; the second begins in the middle of a character.
  BODIES = { "ascii" => "hello world", "utf8" => "\u65e5\u672c\u8a9e\u00fc", "binary" => "\0\r\n\xff\xfe\r\n0\r\n\x80",
             "random" => Random.new(5).bytes(11) }.transform_values(&:b).freeze

  serves Support::Probe::APP, threads: 3,
                              binds: ["tcp://127.0.0.1:0", "unix://#{Dir.tmpdir}/carat-split-#{Process.pid}.sock"]

  BODIES.each do |name, body|
    %w[chunked plain].each do |framing|
      define_method("test_a_#{framing}_#{name}_body_may_be_cut_at_every_place") do
        each_cut(send(framing, body)) { |client| assert_equal body, client.read_response.body }
      end
    end
  end

  def test_a_request_may_arrive_byte_by_byte
    requests = [*BODIES.values.map { |body| chunked(body) }, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"]
    clients = requests.map { unix_client }
    requests.map(&:bytesize).max.times do |nth|
      send_all(clients.zip(requests.map { |request| request.byteslice(nth, 1).to_s }))
    end

    assert_equal [*BODIES.values, ""], clients.map { |client| client.read_response.body }
  end

  def test_pipelined_requests_may_be_cut_at_every_place
    requests = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n#{chunked("hello world")}GET /b HTTP/1.1\r\nHost: a\r\n\r\n"

    each_cut(requests) do |client|
      assert_equal ["/a", "hello world", "/b"], Array.new(3) { client.read_response.body }
    end
  end

  private

  def unix_client
    connect(server.urls.last)
  end

  # Yields a client for each place where the bytes can be cut, to whom they were sent in two pieces.
  def each_cut(bytes, &)
    clients = bytes.bytesize.pred.times.map { unix_client }
    send_all(clients.each_with_index.map { |client, nth| [client, bytes.byteslice(0..nth)] })
    send_all(clients.each_with_index.map { |client, nth| [client, bytes.byteslice((nth + 1)..)] })
    clients.each(&)
  end

  # Sends to each client its piece, and waits until the server has read them all.
  def send_all(pieces)
    pieces.each { |client, piece| client.write(piece) }
    eventually { pieces.all? { |client, _| client.delivered? } }
  end

  def plain(body)
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n".b + body
  end

  def chunked(body)
    first, second = body.byteslice(0, 5), body.byteslice(5..)
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" \
      "5\r\n#{first}\r\n#{second.bytesize.to_s(16)}\r\n#{second}\r\n0\r\n\r\n".b
  end
end
