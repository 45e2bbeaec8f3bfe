# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/control/control_client"
require_relative "../../../support/workplace"

module Carat
  class ControlClientTest < Minitest::Test
    include Support::Workplace

    OK = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n"

    def test_body_of_the_response_is_returned
      request = answering("#{OK}{}\n") { assert_equal "{}\n", get }

      assert_equal "GET /memory HTTP/1.1\r\n", request.lines.first
      assert_includes request, "\r\nConnection: close\r\n"
    end

    def test_response_may_arrive_in_pieces
      answering("#{OK}{", "}\n") { assert_equal "{}\n", get }
    end

    def test_another_status_is_one_line
      answering("HTTP/1.1 503 Service Unavailable\r\n\r\n") do
        assert_refused "carat: #{socket}: it responds with \"HTTP/1.1 503 Service Unavailable\""
      end
      answering("") { assert_refused "carat: #{socket}: it does not respond" }
    end

    def test_an_error_has_the_status_of_a_response_without_a_reason
      answering("HTTP/1.1 404 Not Found\r\n\r\n404 Not Found\n") do
        assert_equal 404, assert_raises(CLI::ControlError) { get }.status
      end
      answering("") { assert_nil assert_raises(CLI::ControlError) { get }.status }
    end

    def test_server_that_closes_the_connection_ends_no_process_by_a_signal
      server = UNIXServer.new(socket)
      client = CLI::ControlClient.new(socket)
      client.define_singleton_method(:check_peer) { |_socket| server.accept.close }

      [-> { client.get("/memory") }, -> { client.upgrade("/console", "carat-console") }].each do |ask|
        error = assert_raises(CLI::ControlError, &ask)
        assert_equal "carat: #{socket}: the server has closed the connection: only the server's user and root may ask",
                     error.message
      end
    end

    def test_missing_server_is_one_line
      assert_refused "carat: #{socket}: no server listens there"
      UNIXServer.new(socket).close

      assert_refused "carat: #{socket}: no server listens there"
    end

    def test_silent_server_runs_into_the_deadline
      server = UNIXServer.new(socket)

      assert_refused "carat: #{socket}: no response within 0.01 s", deadline: 0.01
    ensure
      server.close
    end

    def test_server_that_stands_still_does_not_hold_a_further_client
      server = UNIXServer.new(socket)
      server.listen(0)
      waiting = UNIXSocket.new(socket)

      assert_refused "carat: #{socket}: too many clients wait for it: the server does not respond"
    ensure
      [waiting, server].each(&:close)
    end

    def test_endless_response_is_cut_at_the_limit
      server = UNIXServer.new(socket)
      flood = Thread.new { send_without_end(server.accept) }

      assert_refused "carat: #{socket}: it sends more than 16777216 bytes"
      assert_kind_of SystemCallError, flood.value
    ensure
      server.close
    end

    def test_server_of_another_user_is_refused
      skip "takes root, to be two other users" unless Process.euid.zero?
      File.chmod(0o777, File.dirname(socket))
      server = as_user(65_533) { UNIXServer.new(socket).tap { File.chmod(0o666, socket) } }

      assert_equal "carat: #{socket}: a process of another user (uid 65533) listens there", as_user(65_534) { refusal }
      assert_equal "carat: #{socket}: no response within 0.01 s", as_user(65_533) { refusal }
      assert_equal "carat: #{socket}: no response within 0.01 s", refusal
    ensure
      server&.close
    end

    def test_path_that_is_too_long_is_one_line
      error = assert_raises(CLI::ControlError) { CLI::ControlClient.new("/#{"x" * 200}").get("/memory") }

      assert_equal 1, error.message.lines.size
    end

    private

    def socket
      path("carat.sock")
    end

    def get(deadline: 5)
      CLI::ControlClient.new(socket, deadline:).get("/memory")
    end

    # Serves one client, and returns what it has asked.
    def answering(*pieces)
      server = UNIXServer.new(socket)
      thread = Thread.new { serve(server.accept, pieces) }
      yield
      thread.value
    ensure
      server.close
      File.delete(socket)
    end

    def serve(client, pieces)
      request = client.gets("\r\n\r\n")
      pieces.each { |piece| client.write(piece) && client.flush }
      request
    ensure
      client.close
    end

    def send_without_end(client)
      client.gets("\r\n\r\n")
      loop { client.write("x" * 65_536) }
    rescue SystemCallError => e
      e
    ensure
      client.close
    end

    # Runs the block with the effective user id `uid`, and returns its value.
    def as_user(uid)
      Process::Sys.seteuid(uid)
      yield
    ensure
      Process::Sys.seteuid(0)
    end

    def refusal
      assert_raises(CLI::ControlError) { get(deadline: 0.01) }.message
    end

    def assert_refused(message, **options)
      assert_equal message, assert_raises(CLI::ControlError) { get(**options) }.message
    end
  end
end
