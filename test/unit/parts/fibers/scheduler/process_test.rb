# frozen_string_literal: true

require "test_helper"
require "timeout"

module Scheduler
  # Waiting for processes, each of which ends only when another fiber ends it.
  class ProcessTest < Support::SchedulerTest
    also_under_stress

    READ = "head -n 1 > /dev/null"

    def test_process_wait_sets_the_status
      status = fibers do
        reader, writer = IO.pipe
        pid = spawn("#{READ}; exit 3", in: reader)
        go { writer.puts("go") }
        assert_equal pid, Process.wait(pid)
        $?
      end
      assert_equal 3, status.exitstatus
    end

    def test_a_forked_process_may_become_another
      status = fibers do
        reader, writer = IO.pipe
        go { writer.puts("go") }
        pid = fork { exec(READ, in: reader) }
        Process.wait2(pid)[1]
      end
      assert_predicate status, :success?
    end

    def test_system_lets_others_run
      outcome = fibers do
        reader, writer = IO.pipe
        go { writer.puts("go") }
        [system(READ, in: reader), system("exit 2"), $?.exitstatus]
      end
      assert_equal [true, false, 2], outcome
    end

    def test_backticks_let_others_run
      Dir.mktmpdir do |directory|
        File.mkfifo("#{directory}/fifo")
        File.open("#{directory}/fifo", "r+") do |fifo|
          output = fibers do
            go { sleep(0.01) && fifo.syswrite("go\n") }
            `head -n 1 #{directory}/fifo`
          end
          assert_equal "go\n", output
        end
      end
    end

    def test_popen_lets_others_run
      output = fibers do
        IO.popen("cat", "r+") do |cat|
          go { cat.write("go\n") && cat.close_write }
          cat.read
        end
      end
      assert_equal "go\n", output
    end

    def test_a_wait_that_gives_up_leaves_the_child_to_the_next_one
      pids = fibers do
        reader, writer = IO.pipe
        pid = spawn(READ, in: reader)
        before = Thread.list
        assert_raises(Timeout::Error) { Timeout.timeout(0.01) { Process.wait } }
        give_way_until { (Thread.list - before).none? }
        go { writer.puts("go") }
        [pid, Process.wait(pid)]
      end
      assert_equal(*pids)
    end

    def test_a_child_of_a_group_may_be_waited_for
      pids = fibers do
        reader, writer = IO.pipe
        pid = spawn(READ, in: reader, pgroup: true)
        go { writer.puts("go") }
        [pid, Process.wait(-pid)]
      end
      assert_equal(*pids)
    end

    def test_a_child_that_stops_may_be_waited_for
      fibers do
        reader, writer = IO.pipe
        pid = spawn(READ, in: reader)
        go { Process.kill(:STOP, pid) }
        assert_predicate Process.wait2(pid, Process::WUNTRACED)[1], :stopped?
        Process.kill(:CONT, pid)
        writer.puts("go")
        assert_predicate Process.wait2(pid, Process::WUNTRACED)[1], :success?
      end
    end

    def test_a_process_that_is_no_child_is_an_error
      fibers { assert_raises(Errno::ECHILD) { Process.wait(1) } }
    end
  end
end
