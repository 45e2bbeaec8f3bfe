# frozen_string_literal: true

require "json"
require "open3"
require "support/application_directory"

module Support
  # An application in a directory of its own, and what a subcommand of `carat` says about it.
  module InProcessApplication
    include ApplicationDirectory

    private

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
