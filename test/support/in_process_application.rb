# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

module Support
  # An application in a directory of its own, and what a subcommand of `carat` says about it.
  module InProcessApplication
    COMMAND = [RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__),
               File.expand_path("../../exe/carat", __dir__)].freeze

    def setup
      @directory = File.realpath(Dir.mktmpdir("carat"))
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

    private

    def write(name, text)
      File.write(path(name), text)
    end

    def path(name)
      File.join(@directory, name)
    end

    # The parsed report.
    def report(*words)
      out, err, status = run_carat(*words, "--json")
      assert_predicate status, :success?, err
      JSON.parse(out)
    end

    # Standard output, standard error, and the status of the command.
    def run_carat(*words)
      Open3.capture3(*COMMAND, *words, chdir: @directory)
    end

    # Standard output of a command that is interrupted once the application has made the file `reached`.
    def interrupted(*words)
      IO.popen([*COMMAND, *words, { chdir: @directory }]) do |out|
        eventually { File.exist?(path("reached")) }
        Process.kill(:INT, out.pid)
        out.read
      end
    end
  end
end
