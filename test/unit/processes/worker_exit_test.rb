# frozen_string_literal: true

require "carat/processes/worker_exit"
require "test_helper"

module Carat
  class WorkerExitTest < Minitest::Test
    def test_exit_status_is_that_of_ruby
      { "nil" => [0, nil], "exit(3)" => [3, nil], "at_exit { exit(4) }" => [4, nil], "abort" => [1, nil],
        "raise 'no'" => [1, nil], "exit!(5)" => [5, nil] }.each do |code, expected|
        status = child { eval(code) } # rubocop:disable Security/Eval -- the table above
        assert_equal expected, [status.exitstatus, status.termsig], code
      end
    end

    def test_error_at_exit_is_reported
      reader, writer = IO.pipe
      child(log: writer) { raise NotImplementedError, "out of order" }
      writer.close
      assert_match(/out of order \(NotImplementedError\)/, reader.read)
    end

    def test_a_block_that_raises_is_named_and_the_end_stays_as_planned
      first, second, status = lines(<<~RUBY)
        if (pid = fork)
          puts Process.wait2(pid).last.exitstatus
        else
          Carat::Processes::WorkerExit.install
          Carat::Processes::WorkerExit.arrange(log: Carat::Log::ProcessLog.new($stdout, worker: 3), seconds: 60)
          at_exit { {}.fetch(1) }
          at_exit { raise IOError, "no" }
          $stderr.reopen(File::NULL) # where Ruby prints the errors
          Carat::Processes::WorkerExit.prepare
        end
      RUBY

      assert_match(/\Acarat: worker=3: an at_exit block raised IOError: -e:\d+:in /, first)
      assert_match(/\Acarat: worker=3: an at_exit block raised KeyError: -e:\d+:in /, second)
      assert_equal "0", status
    end

    def test_what_libraries_without_a_block_hold_is_sent_after_the_blocks
      assert_equal %w[block flush], lines(<<~RUBY)
        module OpenTelemetry
          def self.tracer_provider = Class.new { def force_flush(timeout:) = puts("flush") }.new
        end
        fork do
          Carat::Processes::WorkerExit.install
          Carat::Processes::WorkerExit.arrange(seconds: 60)
          at_exit { puts "block" }
          Carat::Processes::WorkerExit.prepare
        end
        Process.wait
      RUBY
    end

    def test_sigterm_leaves_the_blocks_of_a_further_process_their_time
      assert_equal %w[IGNORE], lines(<<~RUBY)
        fork do
          Carat::Processes::WorkerExit.install
          Carat::Processes::WorkerExit.arrange(seconds: 60, last_seconds: nil)
          at_exit { puts trap("TERM", "DEFAULT") }
          Carat::Processes::WorkerExit.prepare
        end
        Process.wait
      RUBY
    end

    def test_buffered_output_is_flushed
      assert_equal ["kept", "of a thread"], lines(<<~RUBY)
        fork do
          Carat::Processes::WorkerExit.install
          Carat::Processes::WorkerExit.arrange
          KEPT = IO.for_fd(IO.sysopen("/proc/self/fd/1", "a"), "a")
          KEPT.puts "kept"
          ready = Queue.new
          Thread.new do
            ready << 1 and sleep
          ensure
            KEPT.puts("of a thread")
          end
          ready.pop
        end
        Process.wait
      RUBY
    end

    def test_blocks_from_before_the_application_run_only_in_the_mold
      assert_equal ["thread is alive", "inherited", "mold"], lines(<<~RUBY)
        owner = Process.pid
        at_exit { puts "mold" if Process.pid == owner || puts("never") }
        Carat::Processes::WorkerExit.install
        at_exit { puts "inherited" if Process.pid != owner }
        fork do
          Carat::Processes::WorkerExit.arrange(seconds: 60)
          thread = Thread.new { sleep }
          at_exit { puts "thread is alive" if thread.alive? }
          Carat::Processes::WorkerExit.prepare
        end
        Process.wait
      RUBY
    end

    def test_a_process_that_a_worker_forks_runs_them_as_in_any_ruby
      assert_equal %w[grandchild first], lines(<<~RUBY)
        owner = Process.pid
        at_exit { puts "first" if Process.pid != owner }
        Carat::Processes::WorkerExit.install
        fork do
          Carat::Processes::WorkerExit.arrange(seconds: 60)
          fork { at_exit { puts "grandchild" } }
          Process.wait
        end
        Process.wait
      RUBY
    end

    def test_temporary_files_of_a_worker_that_became_a_mold_stay_for_its_forks
      assert_equal ["shared"], lines(<<~RUBY)
        require "tempfile"
        require "tmpdir"
        Dir.mktmpdir do |directory|
          Carat::Processes::WorkerExit.install
          fork do
            Carat::Processes::WorkerExit.arrange
            SHARED = Tempfile.new("shared", directory)
            Carat::Processes::WorkerExit.leave_files
          end
          Process.wait
          puts Dir.children(directory).map { |name| name[/\\A[a-z]+/] }
        end
      RUBY
    end

    def test_a_block_that_hangs_is_named_although_the_directory_is_gone
      assert_match(/did not finish in time: -e:\d+:in /, lines(<<~RUBY).last)
        require "tmpdir"
        $stderr.reopen($stdout)
        Dir.chdir(Dir.mktmpdir)
        Carat::Processes::WorkerExit.install
        fork do
          Carat::Processes::WorkerExit.arrange(seconds: 0.1)
          at_exit { sleep }
          Dir.rmdir(Dir.pwd)
          Carat::Processes::WorkerExit.prepare
        end
        Process.wait
      RUBY
    end

    private

    # The status of a child that has run the block; what Minitest registers with at_exit is the parent's.
    def child(log: File.open(File::NULL, "w"))
      pid = fork do
        Processes::WorkerExit.install
        Processes::WorkerExit.arrange(log: Log::ProcessLog.new(log))
        yield
      ensure
        Processes::WorkerExit.prepare
      end
      Process.wait2(pid).last
    end

    # What a program of its own prints.
    def lines(program)
      load_path = $LOAD_PATH.flat_map { |directory| ["-I", directory] }
      command = [RbConfig.ruby, *load_path, "-r", "carat/processes/worker_exit", "-e", "$stdout.sync = true",
                 "-e", program]
      IO.popen(command, &:read).lines(chomp: true)
    end
  end
end
