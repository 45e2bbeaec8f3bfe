# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/descriptors/socket_activation"

module Carat
  class SocketActivationTest < Minitest::Test
    ADDRESSES = ["tcp://0.0.0.0:9292"].freeze

    def test_sockets_that_were_passed_replace_the_addresses
      assert_equal %w[fd://3 fd://4], replace("2")
    end

    def test_sockets_of_another_process_do_not_count
      assert_equal ADDRESSES, replace("2", pid: "43")
      assert_equal ADDRESSES, replace("2", pid: nil)
    end

    def test_a_count_that_is_no_number_is_none
      [nil, "", "0", "-1", "two"].each { |count| assert_equal ADDRESSES, replace(count) }
      assert_equal 1024, replace("99999999").size
    end

    def test_addresses_that_name_inherited_sockets_stay
      addresses = %w[fd://4 tcp://0.0.0.0:80]

      assert_equal addresses, replace("2", addresses:)
    end

    private

    def replace(count, pid: "42", addresses: ADDRESSES)
      Launch::SocketActivation.new({ "LISTEN_FDS" => count, "LISTEN_PID" => pid }, pid: 42).replace(addresses)
    end
  end
end
