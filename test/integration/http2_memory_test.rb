# frozen_string_literal: true

require "json"
require "test_helper"
require "carat/cli/control/control_client"

module Carat
  # What many connections of HTTP/2, with many streams each, make the edge hold stays within client_memory.
  class Http2MemoryTest < Support::IntegrationTest
    Client = Support::Http2Client
    APP = <<~'RUBY'
      piece = "x" * 65_536
      Pieces = Struct.new(:piece) { def each = 16.times { yield piece } }
      long = "x" * 60_000
      large = (1..4).to_h { |number| ["x-#{number}", "x" * 7_500] }
      run(lambda do |env|
        case env["PATH_INFO"]
        when "/stream" then [200, {}, Pieces.new(piece)]
        when "/large" then [204, large, []]
        when "/long" then [200, {}, [long]]
        else [200, {}, [env["rack.input"]&.read.to_s.bytesize.to_s]]
        end
      end)
    RUBY
    NAME = "control.sock"
    LIMIT_KIB = 16 * 1024
    # The promise: beside its own weight, the edge takes at most one and a half times client_memory.
    MOST_KIB = LIMIT_KIB * 3 / 2
    STREAMS = 120
    ENHANCE_YOUR_CALM = 11
    OPEN = Client::END_HEADERS
    SHUT = { Client::INITIAL_WINDOW_SIZE => 0 }.freeze
    WIDE = { Client::HEADER_TABLE_SIZE => 0, Client::INITIAL_WINDOW_SIZE => 0x7fff_ffff }.freeze

    def test_a_small_block_that_decodes_to_many_fields_ends_the_connection
      server = start
      before = private_kib(server)
      field = Client.block([["x", "x" * 3900]]).tap { |block| block.setbyte(0, 0x40) }
      bomb = field + ("\xbe".b * 12_000)
      clients = Array.new(20) { connect(server) }
      clients.each { |client| client.write(client.frame(:headers, bomb, flags: 5, stream: 1)) }

      clients.each { |client| assert_equal ENHANCE_YOUR_CALM, client.await(:go_away).error }
      await_log(server, /HTTP.2 connections ended clients=\d+ last=127\.0\.0\.1 reason="detected excessive load/)
      assert_bounded(server, before)
    end

    # Each such connection would take 250 KB, and each stream 5 KB.
    def test_many_small_responses_without_a_window_are_refused_or_give_way
      assert_never_beyond(1500) { |client, stream| client.request(stream) }
    end

    def test_many_long_responses_without_a_window_are_refused_or_give_way
      assert_never_beyond(30) { |client, stream| client.request(stream, path: "/long") }
    end

    def test_many_streams_with_large_headers_are_refused
      assert_never_beyond(15) { |client, stream| client.request(stream, fields: { "x" => "x" * 8000 }) }
    end

    def test_bodies_that_never_come_give_way
      assert_gives_way(40) { |client, stream| client.request(stream, method: "POST", flags: OPEN) }
    end

    # Each holds a fiber, too: others need some that are free.
    def test_responses_that_nobody_reads_give_way
      assert_gives_way(3, settings: WIDE) { |client, stream| client.request(stream, path: "/stream") }
    end

    def test_headers_of_responses_that_nobody_reads_give_way
      assert_gives_way(20) { |client, stream| client.request(stream, path: "/large") }
    end

    def test_half_a_body_has_the_minimum_rate
      server = serve(APP, workers: 1, threads: 1, args: %w[--body-min-rate 1000])
      client = connect(server)
      client.write(client.request(1, method: "POST", flags: OPEN), client.frame(:data, "x", stream: 1),
                   client.request(3, method: "POST", fields: { "content-length" => "100" }, flags: OPEN))

      assert_equal([408, 408], [1, 3].map { |stream| client.await(:headers, stream: stream).status })
      client.write(client.request(5))
      assert_equal 200, client.await(:headers, stream: 5).status
    end

    private

    def start
      args = ["--client-memory", "16MB", "--control-socket", NAME, "--body-min-rate", "0"]
      serve(APP, workers: 1, fibers: 400, args: args).tap(&:get)
    end

    def connect(server, **options)
      socket = server.connect.tap { |client| client.socket.setsockopt(:SOCKET, :RCVBUF, 4096) }
      Client.new(socket, **options)
    end

    # While this number of clients have many streams open each, others are served and memory is bounded.
    def assert_gives_way(count, **options)
      server = start
      before = private_kib(server)
      clients = Array.new(count) { connect(server, **options) }
      clients.each do |client|
        client.write(*Array.new(STREAMS) { |index| yield client, (index * 2) + 1 })
      rescue SystemCallError
        # It had to give way.
      end
      await_log(server, /client memory used up refused=\d+ used=\d+ client_memory=16777216/)
      assert_bounded(server, before)
      clients.each(&:reset)
      eventually(message: "everything to be given back") { held(server).zero? }
    end

    # While this number of clients open no window, the edge is never larger than it may be, and others are served.
    def assert_never_beyond(count)
      server = start
      before = private_kib(server)
      clients = Array.new(count) do
        connect(server, settings: SHUT).tap do |client|
          client.write(*Array.new(STREAMS) { |index| yield client, (index * 2) + 1 })
        rescue SystemCallError
          # It was refused.
        ensure
          assert_operator private_kib(server) - before, :<=, MOST_KIB
        end
      end
      assert_bounded(server, before)
      await_log(server, /client memory used up refused=\d+/)
      clients.each(&:reset)
      eventually(message: "everything to be given back") { held(server).zero? }
    end

    # As clients do, it tries again when it is told that nothing was processed.
    def served_over_http2?(server)
      client = connect(server)
      client.write(client.request(1)).await(:headers, :go_away, :reset, stream: 1)&.then do |frame|
        frame.kind == :headers && frame.status == 200
      end
    ensure
      client&.reset
    end

    def assert_bounded(server, before)
      20.times { assert_equal 200, server.get.status }
      eventually(message: "a response over HTTP/2") { served_over_http2?(server) }
      # What has been freed goes back within a second or two.
      eventually(message: "what the edge holds") { private_kib(server) - before <= MOST_KIB }
    end

    def held(server)
      socket = File.join(server.directory.path, NAME)
      JSON.parse(CLI::ControlClient.new(socket).get("/memory"))["clients"]["used"]
    end

    def private_kib(server)
      Support::ProcessTree.unshared(server.pid)
    end
  end
end
