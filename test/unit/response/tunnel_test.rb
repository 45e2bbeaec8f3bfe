# frozen_string_literal: true

require "test_helper"
require "carat/response/tunnel"

module Carat
  class TunnelTest < Minitest::Test
    def test_the_near_end_is_that_of_the_descriptor_which_is_passed_on
      far = nil
      near = Response::Tunnel.open { |descriptor| far = IO.for_fd(descriptor, autoclose: false).dup }
      far.syswrite("x")

      assert_equal "x", near.readpartial(1)
    ensure
      [near, far].each(&:close)
    end

    def test_without_anybody_who_takes_it_there_is_no_end
      assert_nil(Response::Tunnel.open { false })
    end
  end
end
