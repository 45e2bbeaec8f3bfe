# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "carat/cli/cgroup"
require_relative "../../support/workplace"

module Carat
  class CgroupTest < Minitest::Test
    include Support::Workplace

    # What a process reads of itself in a Docker container, and what systemd's service has on a machine.
    FIRST_VERSION = <<~TEXT
      12:pids:/docker/3f9ab1
      9:cpu,cpuacct:/docker/3f9ab1
      4:memory:/docker/3f9ab1
      1:name=systemd:/docker/3f9ab1
      0::/system.slice/containerd.service
    TEXT
    SECOND_VERSION = "0::/system.slice/shop.service\n"
    NAMESPACE = "0::/\n"

    def test_the_second_version_s_limit_is_the_lowest_on_the_way_up
      write("system.slice/memory.max", "536870912\n")
      write("system.slice/shop.service/memory.max", "max\n")

      assert_equal 536_870_912, limit(SECOND_VERSION)
      write("system.slice/shop.service/memory.max", "268435456\n")

      assert_equal 268_435_456, limit(SECOND_VERSION)
    end

    def test_the_first_version_s_limit_is_the_lowest_on_the_way_up
      write("memory/memory.limit_in_bytes", "9223372036854771712\n")
      write("memory/docker/memory.limit_in_bytes", "9223372036854771712\n")

      assert_nil limit(FIRST_VERSION)
      write("memory/docker/3f9ab1/memory.limit_in_bytes", "268435456\n")

      assert_equal 268_435_456, limit(FIRST_VERSION)
    end

    def test_in_a_container_the_group_is_at_the_root
      write("memory/memory.limit_in_bytes", "134217728\n")
      write("memory.max", "67108864\n")

      assert_equal [134_217_728, 67_108_864], [limit(FIRST_VERSION), limit(NAMESPACE)]
    end

    def test_a_machine_without_groups_has_no_limit
      assert_nil limit("")
      assert_nil limit(NAMESPACE)
    end

    private

    def limit(membership)
      CLI::Cgroup.new(root: @workplace, membership:).memory_limit
    end
  end
end
