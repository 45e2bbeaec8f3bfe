# frozen_string_literal: true

require "minitest/autorun"
require "tmpdir"
require "carat/cli/flags/output_file"

module Carat
  class OutputFileTest < Minitest::Test
    def test_page_is_written_to_the_file
      in_directory do |directory|
        path = File.join(directory, "report.html")

        assert_output("", "carat: #{path}: written\n") { CLI::OutputFile.new(path).write("<!doctype html>") }
        assert_equal "<!doctype html>", File.read(path)
      end
    end

    def test_place_that_cannot_be_written_is_refused_at_once
      in_directory do |directory|
        missing = File.join(directory, "missing")

        assert_equal "--html: #{directory}: is a directory", refusal(directory)
        assert_equal "--html: #{missing}/a.html: there is no directory #{missing}", refusal("#{missing}/a.html")
      end
    end

    def test_failure_to_write_is_one_sentence
      file = CLI::OutputFile.new("/dev/full")
      error = assert_raises(Lab::LabError) { file.write("page") }

      assert_match(%r{\Acarat: /dev/full: No space left}, error.message)
    end

    private

    def in_directory(&block)
      Dir.mktmpdir("carat", &block)
    end

    def refusal(path)
      assert_raises(Config::ConfigError) { CLI::OutputFile.new(path) }.message
    end
  end
end
