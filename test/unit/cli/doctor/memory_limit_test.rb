# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/doctor/memory_limit"

module Carat
  class DoctorMemoryLimitTest < Minitest::Test
    MIB = 1 << 20
    Group = Struct.new(:memory_limit)

    def test_a_share_is_one_of_the_group_s_limit
      assert_equal "ok       memory: the control group allows 256 MiB; the server may have 204.8 MiB of it",
                   finding("80%", 256 * MIB)
    end

    def test_without_a_limit_or_with_one_above_the_machine_s_it_is_one_of_the_machine
      expected = "ok       memory: no control group limits the machine's 4 GiB; the server may have 2 GiB of it"

      assert_equal [expected] * 2, [nil, 8192 * MIB].map { |limit| finding("50%", limit) }
    end

    def test_more_than_there_is_is_a_warning
      assert_equal "warning  memory: the control group allows 256 MiB, and memory says 512 MiB, of which the server " \
                   "may have no more than that: the kernel would end workers before Carat does; lower memory, or say " \
                   "how large a share it is, such as \"80%\"",
                   finding(512 * MIB, 256 * MIB)
    end

    private

    def finding(memory, limit)
      CLI::Doctor::MemoryLimit.new({ memory: }, cgroup: Group.new(limit), machine: 4096 * MIB).finding.to_s
    end
  end
end
