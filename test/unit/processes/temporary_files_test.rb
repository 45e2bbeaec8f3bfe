# frozen_string_literal: true

require "carat/log/process_log"
require "carat/processes/temporary_files"
require "tempfile"
require "test_helper"
require "tmpdir"

module Carat
  class TemporaryFilesTest < Minitest::Test
    def setup
      @log = Log::ProcessLog.new(StringIO.new)
      @directory = Dir.mktmpdir
      @files = Processes::TemporaryFiles.new
      @boot = Tempfile.new("boot", @directory)
    end

    def teardown
      @boot.close!
      FileUtils.remove_entry(@directory)
    end

    def test_a_process_that_is_not_the_last_removes_its_own
      in_fork do
        @kept = [Tempfile.new("mine", @directory), Tempfile.new(%w[mine .txt], @directory), Tempfile.allocate]
        @files.remove(@log, own: true)
      end

      assert_equal ["boot"], names
    end

    def test_the_last_process_removes_those_of_others
      gate, opener = IO.pipe
      last = fork do
        opener.close
        gate.read
        @files.remove(@log)
        exit!
      end
      @files.remove(@log)
      assert_equal ["boot"], names
      opener.close
      Process.wait(last)

      assert_empty names
    end

    private

    def in_fork
      Process.wait(fork do
        yield
        exit!
      end)
    end

    def names
      Dir.children(@directory).map { |name| name[/\A[a-z]+/] }
    end
  end
end
