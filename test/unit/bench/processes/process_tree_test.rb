# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchProcessTreeTest < Minitest::Test
  def test_grandchildren_belong_to_the_tree_with_their_depth
    pipe = IO.popen(["sh", "-c", "sh -c 'echo ready; read line; :'; :"], "r+")
    assert_equal "ready\n", pipe.gets
    members = Bench::ProcessTree.new(pipe.pid).members

    assert_equal [0, 1], members.map(&:depth)
    assert_equal [pipe.pid, "sh -c"], [members.first.pid, members.first.title[0, 5]]
    assert(members.all? { |member| member.memory.pss.positive? })
  ensure
    pipe.close
  end

  def test_this_process_has_used_cpu
    assert_operator Bench::ProcessTree.new(Process.pid).cpu, :>=, 0
  end
end
