# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/options"
require "carat/config/sources/hooks"

# What the tables of docs/migration.md promise is there.
class DocsMigrationTest < Minitest::Test
  PAGE = File.read(File.expand_path("../../docs/migration.md", __dir__))
  # Words of the config file, and of others, that are no options.
  OTHERS = %w[process adapter through url attr_accessor connect public touch carat].freeze
  SPAN = /`([^`]+)`/
  NAME = /\A([a-z][a-z_0-9]*)(?: \S.*)?\z/

  def test_what_stands_for_another_servers_option_is_an_option_or_a_hook
    known = options.map { |option| option.name.to_s } + hooks.map(&:to_s) + OTHERS
    named = cells.flat_map { |cell| cell.scan(SPAN).flatten }.filter_map { |code| code[NAME, 1] }

    assert_operator named.uniq.size, :>, 60
    assert_empty named.uniq - known
  end

  # The values are valid, too.
  def test_every_value_of_a_simple_option_is_one
    cells.flat_map { |cell| cell.scan(/`([a-z_]+) (\d+|"[^"]*"|true|false)`/) }.each do |name, value|
      option = options.find { |row| row.name.to_s == name } or next
      next if %i[addresses static user group directory pages].include?(option.type)

      option.parse(value.delete('"'))
    end
  end

  private

  # The last cell of each row: what is Carat's.
  def cells
    PAGE.lines(chomp: true).grep(/\A\| (?!---)/).map { |row| row.split(/(?<!\\)\|/).last }
  end

  def options
    Carat.const_get(:Config)::Options
  end

  def hooks
    Carat.const_get(:Config)::Hooks::TABLE.keys
  end
end
