# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/help"

module Carat
  class HelpTest < Minitest::Test
    def setup
      @text = CLI::Help.new.to_s
    end

    def test_no_line_is_wider_than_80_columns
      assert_empty(@text.lines(chomp: true).select { |line| line.length > 80 })
      assert @text.ascii_only?
    end

    def test_each_option_stands_in_its_group
      Config::Options.each do |option|
        group = @text[/^#{option.group}:\n(.*?)\n\n/m, 1]
        assert_match(/^  (-\w, |    )#{option.flag.sub("--", "--(\\[no-\\])?")}( |$)/, group)
      end
    end

    def test_flags_stand_apart_from_their_sentences
      assert_empty @text.lines.grep(/\A {2}(-\w, | {4})--/).grep_v(/\A.{36}  \S/)
    end
  end
end
