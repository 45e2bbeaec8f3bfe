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
      assert_equal ADDRESSES, upgrade(sockets: "0").replace(ADDRESSES)
      assert_equal %w[fd://3 fd://4], descriptors(upgrade(sockets: "2").replace(ADDRESSES)).addresses
      assert_equal %w[fd://3 tcp://h:1], descriptors(upgrade(sockets: "1").replace(%w[fd://9 tcp://h:1])).addresses
    end

    def test_edge_inherits_the_socket_to_the_old_one_alone
      inherited = descriptors(%w[fd://4 fd://5])
      inherited.check

      assert_equal({ 7 => :close, 3 => 7 }, inherited.redirections)
      assert_nil inherited.ready
      assert_equal ["1", "42"], inherited.variables(pid: 42).values_at("LISTEN_FDS", "LISTEN_PID")
    end

    def test_old_edge_learns_why_the_new_one_failed
      near, far = UNIXSocket.pair
      upgrade(descriptor: far.fileno).failed("carat.rb:1: wrong")
      far.close

      assert_equal({ "failed" => "carat.rb:1: wrong" }, JSON.parse(near.read))
      assert_nil upgrade(descriptor: 1_000_000).failed("nobody listens")
    end

    private

    def upgrade(descriptor: 7, sockets: "0")
      Launch::Upgrade.under_way("CARAT_UPGRADE_FD" => descriptor.to_s, "CARAT_UPGRADE_SOCKETS" => sockets)
    end

    def descriptors(addresses)
      Launch::UpgradeDescriptors.new(addresses, upgrade)
    end
  end
end
