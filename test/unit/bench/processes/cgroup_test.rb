# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchCgroupTest < Minitest::Test
  def test_the_memory_controller_says_where_this_process_is
    assert_equal "/sys/fs/cgroup/memory/app", Bench::Cgroup.own("4:memory:/app\n3:cpu,cpuacct:/\n0::/\n")
  end

  def test_without_controllers_there_is_one_tree
    assert_equal "/sys/fs/cgroup/user.slice", Bench::Cgroup.own("0::/user.slice\n")
  end
end
