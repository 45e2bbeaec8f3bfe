# frozen_string_literal: true

require "minitest"
require_relative "eventually"
require_relative "server"

module Support
  # A test against real servers: ends them afterwards, and shows the log and keeps the directory when it failed.
  class IntegrationTest < Minitest::Test
    include Eventually

    # Ends the servers of an interrupted run too, which has no teardown.
    def run
      super
    rescue *PASSTHROUGH_EXCEPTIONS
      @servers&.each(&:destroy)
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

    # A server that is not started yet; see ServerOptions::DEFAULTS.
    def server(**options)
      Server.new(**options).tap { |server| @servers << server }
    end

    # A server that is ready.
    # @param app [String] config.ru
    def serve(app, **options)
      server(app: app, **options).start
    end

    # Sends a request on a connection of its own and returns the client, which can read the response later.
    def ask(server, verb, target, **options)
      server.connect.tap { |client| client.request(verb, target, **options) }
    end

    # Waits until so many requests have reached the application, and returns them all.
    def await_arrivals(server, count)
      eventually(message: "#{count} arrivals") { server.gate.arrivals.then { |all| all if all.size >= count } }
    end

    # Waits until the log matches, and returns the match.
    def await_log(server, pattern)
      eventually(message: "a log line like #{pattern.inspect}") { server.log.match(pattern) }
    end

    # Waits until so many workers have become ready since the start.
    def await_workers(server, count)
      eventually(message: "#{count} workers") { server.log.scan("worker ready").size >= count }
    end

    # Lets the edge answer two requests by itself: it has then looked at everything that came before.
    def see_edge_go_round(server)
      2.times { server.connect.write("nonsense\r\n\r\n").read_response }
    end

    # Waits until no process is left in the server's directory.
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
