# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchColumnTest < Minitest::Test
  BELOW_ONE = Bench::Target.below(1)

  def test_rounds_are_combined_as_the_column_says
    cells = %i[median max min sum last].map { |over| column(:rate, over: over).cell(row("puma", 10, 30, 21)) }

    assert_equal %w[21 30 10 61 21], cells
    assert_equal "10-30", Bench::Column.spread(:rate).cell(row("puma", 10, 30, 21))
    assert_equal "-", column(:unknown).cell(row("puma", 10))
  end

  def test_targets_are_for_carat
    cells = %w[carat puma].map { |server| column(:rate, target: BELOW_ONE).cell(row(server, 2)) }

    assert_equal ["**2 (< 1) missed**", "2"], cells
  end

  def test_a_target_may_depend_on_the_row
    target = ->(row) { BELOW_ONE if row.variant == "large" }
    rows = %w[small large].map { |variant| row("carat", 2).tap { |one| one.variant = variant } }

    assert_equal ["2", "**2 (< 1) missed**"], (rows.map { |row| column(:rate, target: target).cell(row) })
  end

  def test_a_ratio_compares_the_same_rounds
    carat, puma = beside(row("carat", 10, 30), row("puma", 10, 20))
    column = Bench::Column.ratio("puma", :rate, target: BELOW_ONE)

    assert_equal ["x puma", "**1.25 (< 1) missed**", "1.00"], [column.heading, column.cell(carat), column.cell(puma)]
    assert_equal "0.83", Bench::Column.ratio("puma", :rate, inverse: true).cell(carat)
  end

  def test_without_the_other_server_there_is_no_ratio
    assert_equal "-", Bench::Column.ratio("hyper", :rate).cell(row("carat", 10))
  end

  private

  def column(figure, **options) = Bench::Column.new("heading", figure, **options)

  def row(server, *rates)
    one = Bench::Row.new(spec: Bench::Servers.named([server]).first, samples: rates.map { |rate| { rate: rate } })
    beside(one).first
  end

  def beside(*rows) = rows.each { |row| row.rows = rows }
end
