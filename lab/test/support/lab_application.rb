# frozen_string_literal: true

require "json"
require "open3"
require "support/application_directory"

module Support
  # An application in a directory of its own, and what `carat load` and `carat compare` say about it.
  module LabApplication
    include ApplicationDirectory

    RACKUP = "run ->(_env) { [200, {}, [\"hello\"]] }\n"

    def setup
      super
      write("config.ru", RACKUP)
    end

    private

    # Standard output, standard error, and the exit status of the command.
    def carat(*words, env: {})
      out, err, status = Open3.capture3(env, *COMMAND, *words, chdir: @directory)
      [out, err, status.exitstatus]
    end

    # The parsed report of a command that exits with this status and prints nothing else.
    def report(*words, env: {}, expected: 0)
      out, err, status = carat(*words, "--json", env:)
      assert_equal ["", expected], [err, status]
      JSON.parse(out)
    end

    # The parsed report of a command that is interrupted as soon as the block is true.
    def interrupted_report(*words)
      out = IO.popen([*COMMAND, *words, "--json", { chdir: @directory }]) do |command|
        eventually { yield }
        Process.kill(:INT, command.pid)
        command.read
      end
      JSON.parse(out)
    end
  end
end
