# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/huge_pages"

module Carat
  class DoctorHugePagesTest < Minitest::Test
    def test_huge_pages_on_request_are_ok
      assert_equal(%i[ok ok ok], ["always [madvise] never", "always madvise [never]", nil].map { finding(_1).level })
    end

    def test_huge_pages_for_all_memory_are_a_warning
      assert_match(/\Awarning  huge pages: the kernel uses them for all memory: .* echo madvise > /,
                   finding("[always] madvise never").to_s)
    end

    private

    def finding(modes)
      CLI::Doctor::HugePages.new({}, modes:).finding
    end
  end
end
