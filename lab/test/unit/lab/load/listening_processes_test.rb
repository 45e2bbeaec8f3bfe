# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require "carat/lab/load/listening_processes"

module Carat
  class ListeningProcessesTest < Minitest::Test
    # Listens, says where, and waits to be ended.
    SERVER = "server = TCPServer.new(ARGV[0], 0); puts server.addr[1]; $stdout.flush; $stdin.read"

    def test_process_that_listens_is_found_for_both_families
      %w[127.0.0.1 ::1].each do |host|
        next if host.include?(":") && Socket.ip_address_list.none?(&:ipv6_loopback?)

        IO.popen(["ruby", "-rsocket", "-e", SERVER, host], "r+") do |io|
          assert_equal [io.pid], Lab::Load::ListeningProcesses.of(Integer(io.gets, 10))
          io.close_write
        end
      end
    end

    def test_port_without_a_listener_has_no_process
      port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }

      assert_empty Lab::Load::ListeningProcesses.of(port)
    end

    def test_own_process_does_not_count
      TCPServer.open("127.0.0.1", 0) { |server| assert_empty Lab::Load::ListeningProcesses.of(server.addr[1]) }
    end

    def test_names_of_this_machine_are_local
      assert Lab::Load::ListeningProcesses.local?("localhost")
      assert Lab::Load::ListeningProcesses.local?("127.0.0.1")
      refute Lab::Load::ListeningProcesses.local?("192.0.2.1")
    end
  end
end
