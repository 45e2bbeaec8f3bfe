# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require "carat/launch/descriptors/inherited_descriptors"

module Carat
  class InheritedDescriptorsTest < Minitest::Test
    def test_sockets_are_numbered_from_3_in_the_order_of_the_addresses
      descriptors = Launch::InheritedDescriptors.new(%w[fd://7 tcp://x:1 fd://5], nil)

      assert_equal %w[fd://3 tcp://x:1 fd://4], descriptors.addresses
      assert_equal({ 3 => 7, 4 => 5, 7 => :close, 5 => :close }, descriptors.redirections)
      assert_equal({ "LISTEN_FDS" => "2", "LISTEN_PID" => "42", "LISTEN_FDNAMES" => nil },
                   descriptors.variables(pid: 42))
    end

    def test_ready_descriptor_follows_the_sockets_and_is_open_once
      descriptors = Launch::InheritedDescriptors.new(%w[fd://4], 3)

      assert_equal 4, descriptors.ready
      assert_equal({ 3 => 4, 4 => 3 }, descriptors.redirections)
      assert_equal({ 3 => 9, 9 => :close }, Launch::InheritedDescriptors.new([], 9).redirections)
    end

    def test_standard_stream_keeps_its_number
      descriptors = Launch::InheritedDescriptors.new(%w[fd://3], 1)

      assert_equal 1, descriptors.ready
      assert_equal({ 3 => 3 }, descriptors.redirections)
    end

    def test_without_descriptors_nothing_changes
      descriptors = Launch::InheritedDescriptors.new(%w[tcp://x:1], nil)

      assert_equal [%w[tcp://x:1], nil, {}, {}],
                   [descriptors.addresses, descriptors.ready, descriptors.redirections, descriptors.variables]
      descriptors.check
    end

    def test_listening_socket_is_accepted
      TCPServer.open("127.0.0.1", 0) do |server|
        IO.pipe { |_reader, writer| Launch::InheritedDescriptors.new(["fd://#{server.fileno}"], writer.fileno).check }
        refute_predicate server, :closed?
      end
    end

    def test_socket_that_does_not_listen_is_rejected
      UNIXSocket.pair do |one, _other|
        assert_refused "bind: fd://#{one.fileno} is a socket that does not listen", ["fd://#{one.fileno}"]
      end
      IO.pipe do |reader, _writer|
        assert_refused "bind: fd://#{reader.fileno} is not an open socket", ["fd://#{reader.fileno}"]
      end
      assert_refused "bind: fd://999 is not an open socket", ["fd://999"]
    end

    def test_ready_descriptor_that_is_not_open_is_refused
      assert_refused "ready_fd: 999 is not an open file descriptor", [], 999
    end

    def test_one_descriptor_cannot_serve_twice
      TCPServer.open("127.0.0.1", 0) do |server|
        address = "fd://#{server.fileno}"
        assert_refused "bind: #{address} is given twice", [address, address]
        assert_refused "ready_fd: #{server.fileno} is a socket of bind", [address], server.fileno
      end
    end

    private

    def assert_refused(message, addresses, ready = nil)
      error = assert_raises(Config::ConfigError) { Launch::InheritedDescriptors.new(addresses, ready).check }
      assert_equal message, error.message
    end
  end
end
