# frozen_string_literal: true

require "fileutils"
require "tmpdir"

module Support
  # A test that runs in a temporary directory with a config.ru.
  module Workplace
    RACKUP = "run ->(_env) { [200, {}, []] }\n"

    def setup
      super
      @home = Dir.pwd
      @workplace = File.realpath(Dir.mktmpdir("carat-"))
      Dir.chdir(@workplace)
      write("config.ru", RACKUP)
    end

    def teardown
      Dir.chdir(@home)
      FileUtils.remove_entry(@workplace)
      super
    end

    # Writes a file of the directory; `path` is relative to it.
    def write(path, text)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
    end

    # The absolute path of a file in the directory.
    def path(name)
      File.join(@workplace, name)
    end
  end
end
