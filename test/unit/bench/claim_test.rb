# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/bench"

# What bench/prove says of the rows of a claim's cases.
class BenchClaimTest < Minitest::Test
  CLAIM = Bench::Claim.named("overload")
  CASE = Bench::Cases.named(["overload"]).first

  def test_it_holds_when_all_rows_of_carat_reach_their_targets
    assert_empty CLAIM.misses(rows("carat-t5" => { "x 1" => 1.0, "x 5" => 0.93 }, "puma-t5" => { "x 5" => 0.6 }))
  end

  def test_a_miss_names_server_variant_figure_and_target
    misses = CLAIM.misses(rows("carat-t5" => { "x 1" => 1.0, "x 5" => 0.42 }, "puma-t5" => { "x 1" => 1.0 }))

    assert_equal ["carat-t5, x 5: of what is possible 0.42 (>= 0.9)"], misses
  end

  def test_it_does_not_hold_where_carat_has_no_row
    assert_equal ["overload: Carat has no figures"], CLAIM.misses(rows("puma-t5" => { "x 5" => 1.0 }))
    assert_equal ["overload: Carat has no figures"], CLAIM.misses({})
  end

  def test_a_ratio_to_a_server_that_took_no_part_has_no_figure
    column = Bench::Column.ratio("puma-t5", :rate, target: Bench::Target.at_least(1))
    row = Bench::Row.new(spec: spec("carat-t5"), samples: [{ rate: 9 }], rows: [])

    assert_equal "x puma-t5 without a figure", column.miss(row)
    assert_equal "-", column.cell(row)
  end

  def test_a_target_is_for_carat_alone_and_may_depend_on_the_row
    column = Bench::Column.new("waits", :waits, target: ->(row) { Bench::Target.at_most(row[:requests] / 2000) })
    waits, none = [3, 2].map { |count| [{ waits: count, requests: 4000 }] }

    assert_equal "waits 3 (<= 2)", column.miss(Bench::Row.new(spec: spec("carat-t5"), samples: waits))
    assert_nil column.miss(Bench::Row.new(spec: spec("carat-t5"), samples: none))
    assert_nil column.miss(Bench::Row.new(spec: spec("puma-t5"), samples: waits))
  end

  def test_each_claim_names_cases_with_targets_and_servers_of_them
    Bench::Claim::ALL.each do |claim|
      options = claim.options
      cases = Bench::Cases.named(options.cases)

      assert_equal options.cases.size, cases.size
      names = cases.flat_map(&:specs).flat_map { |spec| [spec.name, spec.family] }
      assert_empty options.servers.to_a.map { |name| name.delete_prefix("-") } - names
      cases.each { |kase| assert_includes kase.specs.map(&:family), "puma", kase.name }
    end
  end

  # Each row of figures ends with a command that is there, and each claim has a row.
  def test_every_figure_of_the_readme_has_its_command
    block = File.read(File.expand_path("../../../README.md", __dir__))[/FIGURES BEGIN.*FIGURES END/m]
    rows = block.lines.grep(/\A\| /).drop(1)
    commands = rows.map { |row| row[%r{`bench/((?:prove|run --cases) \w+)`[^|]*\|$}, 1] || row }
    claims = Bench::Claim::ALL.map { |claim| "prove #{claim.name}" }

    assert_empty claims - commands
    assert_empty(commands - claims - Bench::Cases::ALL.map { |kase| "run --cases #{kase.name}" })
  end

  def test_an_unknown_claim_is_named
    error = assert_raises(Bench::Failure) { Bench::Claim.named("speed") }

    assert_match(/no claim "speed"; there are deploy, memory,/, error.message)
  end

  private

  # A Hash of Rows by Case, from what each server has reached by variant.
  def rows(shares)
    samples = shares.to_h { |name, by_variant| [spec(name), [by_variant.transform_values { |share| sample(share) }]] }
    samples.empty? ? {} : { CASE => CASE.rows(samples) }
  end

  def sample(share) = { share: share, capacity: 250, offered: 500, good: 100, refused: 1, given_up: 2 }

  def spec(name) = Bench::Servers.named([name]).first
end
