# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/help"
require "carat/cli/program"
require "carat/config/options"

module Carat
  class HelpTest < Minitest::Test
    def setup
      @text = CLI::Help.overview(Config::Flags.new)
    end

    def test_no_line_of_any_help_is_wider_than_80_columns
      [@text, *CLI::Subcommands::NAMES.map { |name| help(name) }].each do |text|
        assert_empty(text.lines(chomp: true).select { |line| line.length > 80 })
        assert text.ascii_only?
      end
    end

    def test_each_option_stands_in_its_group
      Config::Options.from(:flag).each do |option|
        group = @text[/^#{option.group}:\n(.*?)\n\n/m, 1]
        assert_match(/^  (-\w, |    )#{option.flag.sub("--", "--(\\[no-\\])?")}( |\[|$)/, group)
      end
    end

    def test_defaults_are_displayed_whole
      shown = @text.gsub(/\s+/, " ")
      Config::Options.from(:flag).each { |option| assert_includes shown, "[#{option.default_words}]", option.name.to_s }
    end

    def test_flags_stand_apart_from_their_sentences
      assert_empty @text.lines.grep(/\A {2}(-\w, | {4})--/).grep_v(/\A.{37}  \S/)
    end

    def test_each_subcommand_has_a_line_and_a_help_of_its_own
      CLI::Subcommands::NAMES.each do |name|
        assert_match(/^  #{name} +[A-Z]/, @text)
        assert_includes help(name), CLI::Subcommands.fetch(name)::SUMMARY
      end
    end

    def test_help_of_a_subcommand_is_the_same_in_both_spellings
      CLI::Subcommands::NAMES.each { |name| assert_equal help(name), run_cli(name, "--help").first }
    end

    def test_mistyped_subcommand_gets_a_hint
      assert_equal ["", "chek: no such subcommand; did you mean check?\n", 78], run_cli("help", "chek")
      assert_equal ["", "check: one subcommand is enough\n", 78], run_cli("help", "memory", "check")
    end

    private

    def help(name)
      run_cli("help", name).first
    end

    def run_cli(*words)
      out, err = Array.new(2) { StringIO.new }
      status = CLI::Program.new(words, env: {}, out:, err:).run
      [out.string, err.string, status]
    end
  end
end
