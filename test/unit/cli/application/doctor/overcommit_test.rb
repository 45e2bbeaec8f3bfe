# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/overcommit"

module Carat
  class DoctorOvercommitTest < Minitest::Test
    def test_kernel_that_overcommits_is_ok
      assert_equal %i[ok ok], %w[0 1].map { |mode| finding(mode).level }
    end

    def test_kernel_that_never_overcommits_is_a_warning
      assert_match(/\Awarning  overcommit: vm\.overcommit_memory is 2: .* set it to 0 or 1/, finding("2").to_s)
    end

    private

    def finding(mode)
      CLI::Doctor::Overcommit.new({}, mode:).finding
    end
  end
end
