# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

module Support
  # An application in a directory of its own, and what `carat load` and `carat compare` say about it.
  module LabApplication
    COMMAND = [RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__),
               File.expand_path("../../exe/carat", __dir__)].freeze
    RACKUP = "run ->(_env) { [200, {}, [\"hello\"]] }\n"

    def setup
      @directory = File.realpath(Dir.mktmpdir("carat"))
      write("config.ru", RACKUP)
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

    private

    def write(name, text)
      FileUtils.mkdir_p(File.dirname(path(name)))
      File.write(path(name), text)
    end

    def path(name)
      File.join(@directory, name)
    end

    # Standard output, standard error, and the exit status of the command.
    def carat(*words, env: {})
      out, err, status = Open3.capture3(env, *COMMAND, *words, chdir: @directory)
      [out, err, status.exitstatus]
    end

    # The parsed report of a command that succeeds and prints nothing else.
    def report(*words, env: {})
      out, err, status = carat(*words, "--json", env:)
      assert_equal ["", 0], [err, status]
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
