# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "../../../test/support/application_directory"

module Support
  # A process that runs a file of tests about memory, as a project that has Carat and its lab in its bundle would.
  module MemoryTestProcess
    include ApplicationDirectory

    LIBRARIES = %w[lib lab/lib].map { |path| "-I#{File.expand_path("../../../#{path}", __dir__)}" }.freeze

    private

    # Runs the code with Ruby, and returns what it prints and its status.
    def run_ruby(code, *command, env: {})
      write("memory_test.rb", code)
      command = ["memory_test.rb"] if command.empty?
      Open3.capture2e(env, RbConfig.ruby, *LIBRARIES, *command, chdir: @directory)
    end
  end
end
