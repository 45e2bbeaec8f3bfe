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

    def test_buffered_output_is_flushed
      assert_equal ["kept", "of a thread"], lines(<<~RUBY)
        fork do
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

    def test_only_temporary_files_of_the_worker_are_removed
      assert_equal ["theirs"], lines(<<~RUBY)
        require "tempfile"
        require "tmpdir"
        Dir.mktmpdir do |directory|
          theirs = Tempfile.new("theirs", directory)
          fork do
            Carat::Processes::WorkerExit.arrange
            MINE = [Tempfile.new("mine", directory), Tempfile.new(%w[mine .txt], directory), Tempfile.allocate]
          end
          Process.wait
          puts Dir.children(directory).map { |name| name[/\\A[a-z]+/] }
          theirs.close!
        end
      RUBY
    end

    private

    # The status of a child that has run the block; what Minitest registers with at_exit is the parent's.
    def child(log: File.open(File::NULL, "w"))
      pid = fork do
        Processes::WorkerExit.arrange(log: Log::ProcessLog.new(log))
        yield
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
