# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchScaleTest < Minitest::Test
  CPU = { ["carat", 64] => 6.0, ["carat", 1000] => 9.0, ["carat-w8", 64] => 7.5, ["hyper", 64] => 3.0,
          ["hyper", 1000] => 3.6 }.freeze

  def test_every_server_is_compared_with_its_own_time_for_few_connections
    assert_equal [1.0, 1.5, 1.25, 1.0, 1.2], rows.map { |row| Bench::Scale.growth(row).round(2) }
  end

  def test_what_hyper_needs_more_for_many_connections_is_not_counted
    assert_equal [1.0, 1.25, 1.25, 1.0, 1.0], rows.map { |row| Bench::Scale.own_growth(row).round(2) }
  end

  def test_without_hyper_there_is_no_comparison
    assert_nil Bench::Scale.own_growth(rows(CPU.reject { |(name, _), _| name == "hyper" }).first)
  end

  private

  def rows(figures = CPU)
    figures.each_with_object([]) do |((name, connections), cpu), rows|
      variant = Bench::Scale::Variant.new(connections: connections, behind: 0).to_s
      rows << Bench::Row.new(spec: Bench::Servers.named([name]).first, variant: variant, samples: [{ cpu_us: cpu }],
                             rows: rows)
    end
  end
end
