# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "tmpdir"

module Support
  # A directory of its own for an application about which a subcommand of `carat` says something.
  module ApplicationDirectory
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
      FileUtils.mkdir_p(File.dirname(path(name)))
      File.write(path(name), text)
    end

    def path(name)
      File.join(@directory, name)
    end
  end
end
