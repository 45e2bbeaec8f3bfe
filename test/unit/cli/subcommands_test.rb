# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/subcommand"
require "carat/cli/subcommands"

module Carat
  class SubcommandsTest < Minitest::Test
    def test_each_subcommand_has_a_class_a_usage_and_a_summary
      CLI::Subcommands::NAMES.each do |name|
        subcommand = CLI::Subcommands.fetch(name)

        assert_includes subcommand.ancestors, CLI::Subcommand
        assert_includes subcommand::USAGE, name
        assert_match(/\A[A-Z].*\.\z/, subcommand::SUMMARY)
      end
    end

    # `carat help` and `carat doctor` say that it is not built.
    def test_no_subcommand_needs_the_extension_to_be_loaded
      program = "Carat::CLI::Subcommands::OWN.each { |name| Carat::CLI::Subcommands.fetch(name) }; " \
                "puts $LOADED_FEATURES.grep(/native\\.(?:rb|so)/)"
      loaded = IO.popen([RbConfig.ruby, "-I", File.expand_path("../../../lib", __dir__),
                         "-r", "carat/cli/subcommands", "-e", program], &:read)

      assert_equal ["", true], [loaded, Process.last_status.success?]
    end

    def test_every_file_with_a_subcommand_is_registered
      assert_equal CLI::Subcommands::OWN.sort, subcommands("lib")
      assert_equal Launch::LabGem::SUBCOMMANDS.sort, subcommands("lab/lib")
    end

    def test_word_chooses_the_subcommand
      assert_equal ["check", %w[-w2 config.ru]], split("check", "-w2", "config.ru")
      assert_equal ["memory", %w[--json]], split("memory", "--json")
    end

    def test_flags_may_come_before_the_subcommand
      assert_equal ["check", %w[-w 2 config.ru]], split("-w", "2", "check", "config.ru")
    end

    def test_without_a_subcommand_the_server_is_started
      [%w[], %w[-w2], %w[config.ru], %w[config.ru check], %w[--unknown check], %w[-- check]].each do |words|
        assert_equal ["serve", words], split(*words)
      end
    end

    def test_a_word_that_is_neither_a_subcommand_nor_a_file_is_refused
      assert_equal "restrat: no such subcommand or file; did you mean restart?",
                   assert_raises(Config::ConfigError) { split("restrat", "--pid", "1") }.message
      assert_equal "xyzzy: no such subcommand or file; carat help lists the subcommands",
                   assert_raises(Config::ConfigError) { split("xyzzy") }.message
      assert_equal "kill-wroker: no such subcommand or file; did you mean kill-worker?",
                   assert_raises(Config::ConfigError) { split("-w2", "kill-wroker", "2") }.message
      assert_equal ["serve", %w[-- xyzzy]], split("--", "xyzzy")
    end

    private

    # Those in the files of a library.
    def subcommands(library)
      files = Dir[File.expand_path("../../../#{library}/carat/{cli,parts}/**/*.rb", __dir__)].select do |file|
        File.foreach(file).grep(/\A {6,8}include (Control)?(Subcommand|Command)$/).any? &&
          File.basename(file) != "control_command.rb"
      end
      files.map { |file| File.basename(file, ".rb").tr("_", "-") }.sort
    end

    def split(*words)
      CLI::Subcommands.split(words)
    end
  end
end
