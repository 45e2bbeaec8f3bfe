# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/upgrade"
require "carat/launch/descriptors/upgrade_descriptors"
require "json"
require "socket"

module Carat
  class UpgradeTest < Minitest::Test
    ADDRESSES = ["tcp://0.0.0.0:9292"].freeze

    def test_without_an_old_edge_there_is_none
      assert_nil Launch::Upgrade.under_way({})
    end

    def test_sockets_of_a_service_manager_stay
      assert_equal ADDRESSES, upgrade.replace(ADDRESSES)
      passed = upgrade(listeners: [["fd://3", 9], ["tcp://0.0.0.0:80", 8], ["fd://4", 10]])
      assert_equal %w[fd://3 fd://4], passed.replace(ADDRESSES)
      assert_equal %w[fd://3 tcp://h:1], descriptors(passed.replace(%w[fd://9 tcp://h:1])).addresses
    end

    def test_edge_inherits_the_listeners_and_the_socket_to_the_old_one
      inherited = descriptors(%w[fd://4 fd://5])
      inherited.check

      assert_equal({ 3 => 9, 4 => 7, 7 => :close, 9 => :close }, inherited.redirections)
      assert_nil inherited.ready
      assert_equal ["2", "42"], inherited.variables(pid: 42).values_at("LISTEN_FDS", "LISTEN_PID")
    end

    def test_old_edge_learns_why_the_new_one_failed
      near, far = UNIXSocket.pair
      upgrade(socket: far.fileno).failed("carat.rb:1: wrong\nvery")
      far.close

      assert_equal "carat.rb:1: wrong very\n", near.read
      assert_nil upgrade(socket: 1_000_000).failed("nobody listens")
    end

    private

    def upgrade(socket: 7, listeners: [["tcp://0.0.0.0:9292", 9]])
      Launch::Upgrade.under_way("CARAT_UPGRADE" => JSON.generate(socket:, listeners:))
    end

    def descriptors(addresses)
      Launch::UpgradeDescriptors.new(addresses, upgrade)
    end
  end
end
