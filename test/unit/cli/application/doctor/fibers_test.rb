# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/fibers"

module Carat
  class DoctorFibersTest < Minitest::Test
    def test_no_fibers_are_ok
      assert_equal "ok       fibers: not used", finding(nil, allowed: 0).to_s
    end

    def test_as_many_fibers_as_mappings_allow_are_ok
      assert_equal "ok       fibers: a worker may have 31229, the kernel has room for 31229", finding(31_229).to_s
    end

    def test_one_fiber_more_is_a_warning
      assert_equal "warning  fibers: a worker may have 31230, and the kernel has room for about 31229: requests " \
                   "beyond that wait; raise vm.max_map_count, or lower fibers", finding(31_230).to_s
    end

    def test_limit_comes_from_the_kernel
      assert_equal :ok, CLI::Doctor::Fibers.new({ fibers: 1 }).finding.level
    end

    private

    def finding(fibers, allowed: 65_530)
      CLI::Doctor::Fibers.new({ fibers: }, allowed:).finding
    end
  end
end
