# frozen_string_literal: true

require "fileutils"
require "tmpdir"

module Support
  # The working directory of a server under test: its files and its log.
  class ServerDirectory
    LOG = "carat.log"

    attr_reader :path

    # @param files [Hash{String => String}] contents by relative path
    def initialize(files)
      @path = File.realpath(Dir.mktmpdir("carat-test-"))
      files.each { |name, content| write(name, content) }
    end

    # Writes a file, creates its parent directories, and returns its absolute path.
    def write(name, content)
      file = File.join(@path, name)
      FileUtils.mkdir_p(File.dirname(file))
      File.binwrite(file, content)
      file
    end

    # Writes a file in one step, as editors do: nobody sees a part of it.
    def replace(name, content)
      file = write("#{name}.part", content)
      File.rename(file, file.delete_suffix(".part"))
    end

    # The content of a file as UTF-8; empty when the file does not exist.
    def read(name)
      file = File.join(@path, name)
      File.exist?(file) ? File.read(file, encoding: "UTF-8") : ""
    end

    def log_path
      File.join(@path, LOG)
    end

    # The output of the server and the application so far, as UTF-8.
    def log
      read(LOG)
    end

    def remove
      FileUtils.remove_entry(@path)
    end
  end
end
