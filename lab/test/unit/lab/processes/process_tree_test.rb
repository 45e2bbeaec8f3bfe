# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/processes/process_tree"

module Carat
  class LabProcessTreeTest < Minitest::Test
    # A process with a child, each of which says that it runs and waits to be ended.
    FAMILY = "fork { puts Process.pid; $stdout.flush; $stdin.read }; puts Process.pid; $stdout.flush; Process.wait"

    # A child that works for 50 ms and ends before the process says that it runs.
    WORKED = <<~RUBY
      pid = fork { nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 0.05 }
      Process.wait(pid); puts pid; $stdout.flush; $stdin.read
    RUBY

    def test_descendants_belong_to_the_tree
      run_ruby(FAMILY, lines: 2) do |pid, announced|
        assert_equal announced.sort, tree(pid).pids.sort
      end
    end

    def test_process_below_another_root_counts_once
      run_ruby(FAMILY, lines: 2) do |pid, announced|
        assert_equal announced.sort, tree(*announced, pid).pids.sort
      end
    end

    def test_memory_and_cpu_are_those_of_the_processes
      tree = tree(Process.pid)
      used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

      assert_operator tree.cpu_seconds, :>=, used
      assert_operator tree.pss, :>, 1024 * 1024
    end

    def test_cpu_of_ended_children_counts
      run_ruby(WORKED, lines: 1) { |pid, _| assert_operator tree(pid).cpu_seconds, :>=, 0.04 }
    end

    def test_rest_begins_when_the_cpu_is_hardly_used_any_more
      tree = tree(Process.pid)
      looks = [0, 1, 3, 3.004, 5]
      tree.define_singleton_method(:cpu_seconds) { looks.shift }
      tree.await_rest

      assert_equal [5], looks
    end

    def test_tree_that_has_ended_is_empty
      pid = Process.spawn("true")
      Process.wait(pid)

      assert_equal [[], 0, 0], [tree(pid).pids, tree(pid).pss, tree(pid).cpu_seconds]
    end

    private

    def tree(*roots)
      Lab::ProcessTree.new(*roots)
    end

    def run_ruby(program, lines:)
      IO.popen(["ruby", "--disable-gems", "-e", program], "r+") do |io|
        announced = Array.new(lines) { Integer(io.gets, 10) }
        yield io.pid, announced
      ensure
        io.close_write
      end
    end
  end
end
