# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/command_flags"
require "carat/cli/memory_help"
require "carat/cli/memory_table"

module Carat
  class MemoryHelpTest < Minitest::Test
    def setup
      @text = CLI::MemoryHelp.new.to_s
    end

    def test_each_column_has_a_sentence
      CLI::MemoryTable::COLUMNS.each_key { |column| assert_match(/^#{column} +\S.*\S/, @text) }
    end

    def test_each_flag_is_named
      ["--control-socket", *CLI::CommandFlags::TABLE.fetch(:memory).keys].each do |flag|
        assert_match(/^  #{flag} /, @text)
      end
    end

    def test_no_line_is_wider_than_80_columns
      assert_empty(@text.lines(chomp: true).select { |line| line.length > 80 })
    end
  end
end
