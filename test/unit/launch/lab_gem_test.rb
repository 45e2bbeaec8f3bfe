# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/subcommands"

module Carat
  class LabGemTest < Minitest::Test
    def setup
      assert Launch::LabGem.load
      @load_path = $LOAD_PATH.dup
    end

    def teardown
      $LOAD_PATH.replace(@load_path)
    end

    def test_a_measurement_without_a_build_is_one_line_that_says_what_to_do
      $LOAD_PATH.reject! { |path| File.exist?(File.join(path, "carat/native.so")) }

      Launch::LabGem::SUBCOMMANDS.each do |name|
        error = assert_raises(Launch::LaunchError) { CLI::Subcommands.fetch(name) }
        assert_equal "carat: not built for Ruby #{NativePath::ABI}: #{NativePath.remedy}", error.message
      end
    end

    def test_help_lists_the_measurements_without_a_build
      $LOAD_PATH.reject! { |path| File.exist?(File.join(path, "carat/native.so")) }
      help = CLI::Subcommands.fetch("help")

      assert_includes help.overview(Config::Flags.new), "  weigh leak profile allocations ips load compare\n  not built"
    end
  end
end
