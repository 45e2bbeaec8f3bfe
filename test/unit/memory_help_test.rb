# frozen_string_literal: true

require "minitest/autorun"
require "carat/command_flags"
require "carat/memory_help"
require "carat/memory_table"

class MemoryHelpTest < Minitest::Test
  def setup
    @text = Carat::MemoryHelp.new.to_s
  end

  def test_each_column_has_a_sentence
    Carat::MemoryTable::COLUMNS.each_key { |column| assert_match(/^#{column} +\S.*\S/, @text) }
  end

  def test_each_flag_is_named
    ["--control-socket", *Carat::CommandFlags::TABLE.fetch(:memory).keys].each do |flag|
      assert_match(/^  #{flag} /, @text)
    end
  end

  def test_no_line_is_wider_than_80_columns
    assert_empty(@text.lines(chomp: true).select { |line| line.length > 80 })
  end
end
