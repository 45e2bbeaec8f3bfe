# frozen_string_literal: true

require "digest"
require "json"
require "random/formatter"
require "test_helper"
require "carat/cli/control/control_client"

module Carat
  # What all clients together make the edge hold stays within client_memory, whatever they send or do not read.
  class ClientMemoryTest < Support::IntegrationTest
    APP = <<~'RUBY'
      require "digest"

      piece = "x" * 65_536
      Pieces = Struct.new(:piece) { def each = 16.times { yield piece } }
      run(lambda do |env|
        next [200, {}, Pieces.new(piece)] if env["PATH_INFO"] == "/stream"
        [200, {}, [Digest::SHA256.hexdigest(env["rack.input"]&.read.to_s)]]
      rescue EOFError => e
        $stderr.write("#{e.class}\n")
        raise
      end)
    RUBY
    NAME = "control.sock"
    LIMIT_KIB = 4 * 1024
    # What the edge may take beside: connections that are refused or parked, threads for files, and pages that its
    # allocator keeps. Without the limit, each flood takes 45 MiB to 90 MiB.
    BESIDE_KIB = 20 * 1024
    HEAD = "GET / HTTP/1.1\r\nHost: a\r\n#{"X-Filler: #{"f" * 7500}\r\n" * 8}".freeze
    BODY_BYTES = 65_536

    def test_unfinished_headers_stay_within_the_limit_and_others_are_served
      assert_bounded(600) { HEAD }
    end

    def test_unfinished_bodies_stay_within_the_limit_and_others_are_served
      assert_bounded(500) { head(BODY_BYTES) + ("b" * (BODY_BYTES - 500)) }
    end

    def test_bodies_for_which_there_is_no_memory_arrive_complete_by_way_of_a_file
      server = start
      bodies = Array.new(60) { |number| Random.new(number).bytes(BODY_BYTES) }
      before = private_kib(server)
      clients = flood(server, bodies.size) { |number| head(BODY_BYTES) + bodies[number][0...-500] }
      eventually(message: "bodies in files") { Support::ProcessTree.unlinked(server.pid).size > 15 }

      assert_operator private_kib(server) - before, :<=, LIMIT_KIB + BESIDE_KIB
      clients.zip(bodies) { |client, body| client.write(body[-500..]) }
      assert_equal bodies.map { |body| Digest::SHA256.hexdigest(body) }, clients.map { |each| each.read_response.body }
      refute_match(/client memory/, server.log)
      assert_returned(server, clients)
    end

    def test_decoders_for_whose_windows_there_is_no_memory_are_refused
      assert_decoded_or_refused(503)
    end

    # The application has begun, so that the request must not be repeated: no 503, and no Retry-After.
    def test_streamed_bodies_for_whose_decoders_there_is_no_memory_are_cut_off
      await_log(assert_decoded_or_refused(502, "--request-body", "stream", "-f", "100"), /^Carat::IncompleteBody$/)
    end

    def test_streams_that_nobody_reads_stay_within_the_limit_and_others_are_served
      server = start("-f", "200")
      before = private_kib(server)
      clients = Array.new(190) do
        server.connect.tap do |client|
          client.socket.setsockopt(:SOCKET, :RCVBUF, 4096)
          client.write("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        end
      end
      await_refusals(server)
      served_beside(server)

      assert_operator private_kib(server) - before, :<=, LIMIT_KIB + BESIDE_KIB
      assert_returned(server, clients)
    end

    def test_idle_connections_are_parked_rather_than_refused
      server = start
      clients = Array.new(400) { server.connect }
      clients.each { |client| assert_equal 200, client.get.status }

      refute_match(/client memory/, server.log)
      assert_equal([200], clients.map { |client| client.get.status }.uniq)
      assert_returned(server, clients)
    end

    private

    def start(*args)
      serve(APP, threads: 2, args: ["--client-memory", "4MB", "--access-log", "--control-socket", NAME,
                                    "--header-timeout", "600", "--body-min-rate", "0", *args]).tap(&:get)
    end

    def head(bytes, fields = "")
      "POST / HTTP/1.1\r\nHost: a\r\n#{fields}Content-Length: #{bytes}\r\n\r\n".b
    end

    # Clients that send what the block returns for their number, as far as the server reads it.
    def flood(server, count)
      clients = Array.new(count) { server.connect }
      rest = clients.each_with_index.to_h { |client, number| [client, yield(number)] }
      eventually(message: "everything that the server reads") do
        rest.select! { |client, bytes| rest[client] = unsent(client, bytes) }
        rest.empty? || server.log.include?("client memory used up")
      end
      clients
    end

    # What the kernel does not take at once; nil when nothing is left, or the server has closed the connection.
    def unsent(client, bytes)
      written = client.socket.write_nonblock(bytes, exception: false)
      written = 0 if written == :wait_writable
      bytes.byteslice(written..) if written < bytes.bytesize
    rescue Errno::EPIPE, Errno::ECONNRESET
      nil
    end

    def await_refusals(server)
      await_log(server, /warn\S* +client memory used up refused=\d+ used=\d+ client_memory=4194304/i)
    end

    def served_beside(server)
      20.times { assert_equal 200, server.get.status }
      assert_equal Digest::SHA256.hexdigest("b" * 3000), server.request("POST", "/", body: "b" * 3000).body
    end

    # While this number of clients send what the block returns, and no more.
    def assert_bounded(count, &)
      server = start
      before = private_kib(server)
      clients = flood(server, count, &)
      await_refusals(server)
      served_beside(server)

      assert_operator private_kib(server) - before, :<=, LIMIT_KIB + BESIDE_KIB
      assert_refused(server, clients)
      assert_returned(server, clients)
    end

    # Encoded bodies arrive complete, or get this status. Returns the server.
    def assert_decoded_or_refused(status, *args)
      server = start("--decode-requests", *args)
      before = private_kib(server)
      plain = Random.new(1).bytes(40_000) + (Random.new(2).bytes(1000) * 4000)
      coded = Support::ContentCodings.pipe(plain, "zstd", "-c", "-19", "--no-check", "--zstd=wlog=20")
      clients = flood(server, 30) { head(coded.bytesize, "Content-Encoding: zstd\r\n") + coded[0...-1] }
      await_refusals(server)
      served_beside(server)
      kept, refused = clients.partition { |client| client.socket.wait_readable(0).nil? }

      assert_operator private_kib(server) - before, :<=, LIMIT_KIB + BESIDE_KIB
      assert_refused(server, refused, status)
      kept.each { |client| client.write(coded[-1]) }
      refute_empty kept
      assert_equal [Digest::SHA256.hexdigest(plain)], kept.map { |client| client.read_response.body }.uniq
      assert_returned(server, clients)
      server
    end

    # At least one client was refused, and each that was got a response and a line in the access log.
    def assert_refused(server, clients, status = 503)
      answered = clients.select { |client| client.socket.wait_readable(0) }
      refute_empty answered
      response = answered.first.read_response

      assert_equal [status, "close", ("1" if status == 503)],
                   [response.status, response["connection"], response["retry-after"]]
      await_log(server, /" #{status} .* reason="the server's memory for clients is used up"/)
    end

    def assert_returned(server, clients)
      clients.each(&:reset)
      eventually(message: "everything to be given back") { assert_equal 0, held(server)["used"] }
      assert_equal LIMIT_KIB * 1024, held(server)["limit"]
    end

    def held(server)
      socket = File.join(server.directory.path, NAME)
      JSON.parse(CLI::ControlClient.new(socket).get("/memory"))["clients"]
    end

    def private_kib(server)
      Support::ProcessTree.unshared(server.pid)
    end
  end
end
