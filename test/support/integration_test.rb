# frozen_string_literal: true

require "minitest"
# So that a test meets the same private constants whether it runs alone or after others.
require "carat"
require_relative "eventually"
require_relative "server"

module Support
  # A test with real servers. It ends them afterwards; when it fails, it prints the log and keeps the directory.
  class IntegrationTest < Minitest::Test
    include Eventually

    # An interrupted run has no teardown, so its servers end here.
    def run
      super
    rescue *PASSTHROUGH_EXCEPTIONS
      @servers&.each do |server|
        server.destroy
        server.directory.remove
      end
      raise
    end

    def setup
      @servers = []
    end

    def teardown
      @servers.each(&:destroy)
      passed? || skipped? ? @servers.each { |server| server.directory.remove } : report
    end

    private

    # A server that has not started; see ServerOptions::DEFAULTS.
    def server(**options)
      Server.new(**options).tap { |server| @servers << server }
    end

    # A server that is ready.
    # @param app [String] config.ru
    def serve(app, **options)
      server(app: app, **options).start
    end

    # Sends a request on a new connection and returns the client, which can read the response later.
    def ask(server, verb, target, **options)
      server.connect.tap { |client| client.request(verb, target, **options) }
    end

    # A new connection to the first TCP listener, over which the kernel takes little at a time.
    def connect_narrowly(server, receive_buffer: 4096)
      socket = Socket.new(:INET, :STREAM)
      socket.setsockopt(:SOCKET, :RCVBUF, receive_buffer)
      socket.connect(Addrinfo.tcp(server.host, server.port))
      RawClient.new(socket)
    end

    # The PSS of the edge and of each worker, in KiB.
    def memory(server)
      [server.pid, *server.workers.values].map { |pid| ProcessTree.pss(pid) }
    end

    # The body in chunks of this size.
    def chunks(body, size = 16_384)
      pieces = body.bytesize.fdiv(size).ceil.times.map { |nth| body.byteslice(nth * size, size) }
      pieces.each_with_object(+"".b) { |piece, sent| sent << piece.bytesize.to_s(16) << "\r\n" << piece << "\r\n" } <<
        "0\r\n\r\n"
    end

    # The status of the response to these bytes.
    def status(server, bytes)
      client = server.connect.write(bytes)
      client.read_response.status
    ensure
      client&.close
    end

    # Waits until `count` requests have reached the application, and returns all of them.
    def await_arrivals(server, count)
      eventually(message: "#{count} arrivals") { server.gate.arrivals.then { |all| all if all.size >= count } }
    end

    # Waits until the log matches, and returns the match.
    def await_log(server, pattern, within: Eventually::DEADLINE_SECONDS)
      eventually(within: within, message: "a log line like #{pattern.inspect}") { server.log.match(pattern) }
    end

    # Waits until `count` workers have become ready since the start.
    def await_workers(server, count)
      eventually(message: "#{count} workers") { server.log.scan("worker ready").size >= count }
    end

    # Waits until the edge has refused two requests by itself: by then it has seen everything that came before.
    def see_edge_go_round(server)
      2.times { server.connect.write("nonsense\r\n\r\n").read_response }
    end

    # Waits until no process runs in the server's directory.
    def await_emptiness(server)
      eventually(message: "the end of all processes") { server.processes.empty? }
    end

    def report
      @servers.each do |server|
        warn "#{self.class}##{name} failed; the server's directory is kept in #{server.directory.path}, its log:",
             server.log.gsub(/^/, "    ")
      end
    end
  end
end
