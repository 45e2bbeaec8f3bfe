# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/memory_limit"

module Carat
  class DoctorMemoryLimitTest < Minitest::Test
    MIB = 1 << 20

    def test_share_is_one_of_the_groups_limit
      assert_equal "ok       memory: the control group allows 256 MiB; the server may have 204.8 MiB of it",
                   finding("80%", 256 * MIB)
    end

    def test_without_a_limit_below_the_machine_it_is_a_share_of_the_machine
      expected = "ok       memory: no control group limits the machine's 4 GiB; the server may have 2 GiB of it"

      assert_equal [expected] * 2, [nil, 8192 * MIB].map { |limit| finding("50%", limit) }
    end

    def test_more_than_there_is_is_a_warning
      assert_equal "warning  memory: the control group allows 256 MiB, but memory is 512 MiB: the kernel would kill " \
                   "workers before Carat replaces them; lower memory, or set a share such as \"80%\"",
                   finding(512 * MIB, 256 * MIB)
    end

    def test_limits_that_cannot_be_read_are_a_warning
      finding = CLI::Doctor::MemoryLimit.new({ memory: "80%" }, limits: nil).finding

      assert_equal "warning  memory: the limits of this machine cannot be read", finding.to_s
    end

    private

    def finding(memory, limit)
      limits = CLI::MachineLimits.new("container_memory" => limit, "machine_memory" => 4096 * MIB)
      CLI::Doctor::MemoryLimit.new({ memory: }, limits:).finding.to_s
    end
  end
end
