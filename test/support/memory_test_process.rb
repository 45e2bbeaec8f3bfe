# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

module Support
  # A process that runs a file of tests about memory, as a project that has Carat in its bundle would.
  module MemoryTestProcess
    LIBRARY = File.expand_path("../../lib", __dir__)

    def setup
      @directory = File.realpath(Dir.mktmpdir("carat"))
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

    private

    # Runs the code with Ruby, and returns what it prints and its status.
    def run_ruby(code, *command, env: {})
      write("memory_test.rb", code)
      command = ["memory_test.rb"] if command.empty?
      Open3.capture2e(env, RbConfig.ruby, "-I", LIBRARY, *command, chdir: @directory)
    end

    def write(name, text)
      File.write(File.join(@directory, name), text)
    end
  end
end
