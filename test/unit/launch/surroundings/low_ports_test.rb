# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/surroundings/low_ports"
require_relative "../../../support/workplace"

module Carat
  class LowPortsTest < Minitest::Test
    include Support::Workplace

    NOBODY = "Name:\truby\nCapEff:\t0000000000000000\n"
    ABLE = "CapEff:\t0000000000000400\n"

    def test_a_low_port_needs_a_capability_and_the_message_names_it
      obstacle = obstacle_to("tls://[::]:443?cert=a.crt&key=a.key")

      assert_match(%r{\Atls://\[::\]:443: .* below 1024: .*AmbientCapabilities=CAP_NET_BIND_SERVICE}, obstacle)
      assert_nil obstacle_to("tcp://0.0.0.0:80", status: ABLE)
      assert_nil obstacle_to("tcp://0.0.0.0:80", first_free: "80\n")
    end

    def test_other_addresses_need_none
      assert_nil obstacle_to("tcp://0.0.0.0:9292", "tcp://0.0.0.0:0", "unix:///tmp/a:80", "fd://3")
    end

    def test_where_the_kernel_does_not_tell_the_edge_finds_out
      assert_nil Launch::LowPorts.new(["tcp://0.0.0.0:80"], status: path("none"), first_free: path("none")).obstacle
    end

    private

    def obstacle_to(*addresses, status: NOBODY, first_free: "1024\n")
      write("status", status)
      write("first_free", first_free)
      Launch::LowPorts.new(addresses, status: path("status"), first_free: path("first_free")).obstacle
    end
  end
end
