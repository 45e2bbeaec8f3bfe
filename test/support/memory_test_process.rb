# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "application_directory"

module Support
  # A process that runs a file of tests about memory, as a project that has Carat in its bundle would.
  module MemoryTestProcess
    include ApplicationDirectory

    LIBRARY = File.expand_path("../../lib", __dir__)

    private

    # Runs the code with Ruby, and returns what it prints and its status.
    def run_ruby(code, *command, env: {})
      write("memory_test.rb", code)
      command = ["memory_test.rb"] if command.empty?
      Open3.capture2e(env, RbConfig.ruby, "-I", LIBRARY, *command, chdir: @directory)
    end
  end
end
