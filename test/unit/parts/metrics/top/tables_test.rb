# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/metrics/top"
require_relative "overview"

module Carat
  class TopTablesTest < Minitest::Test
    def test_the_greatest_comes_first_and_what_is_not_known_last
      memory = Overview::ALL.fetch("memory").reject { |row| row["pid"] == 41 }
      tables = CLI::Top::Tables.new
      tables.receive(CLI::Top::Page.new(Overview::ALL.merge("memory" => memory)))
      names = tables.lines(40).filter_map { |line, _| line.to_s[/\A(?:edge|mold|worker \d)/] }

      assert_equal ["edge", "worker 2", "mold", "worker 1"], names
    end
  end
end
