# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/catalogue"
require_relative "../../../bench/lib/arguments"
require_relative "../../../bench/lib/selection"

class BenchArgumentsTest < Minitest::Test
  def test_what_is_not_given_keeps_its_default
    arguments = Bench::Arguments.parse(%w[--rounds 2 --cases hello,idle])

    assert_equal [2, 5, %w[hello idle], nil], arguments.to_a.values_at(0, 1, 7, 8)
  end

  def test_a_quick_run_has_one_round_unless_told_otherwise
    arguments = Bench::Arguments.parse(%w[--quick --duration 2])

    assert_equal [true, 1, 2], [arguments.quick, arguments.rounds, arguments.duration]
  end

  def test_wrong_values_are_refused_in_one_line
    [%w[--rounds 0], %w[--rounds many], %w[--connections 1 --wrk-threads 2], %w[stray], %w[--odd]].each do |argv|
      error = assert_raises(Bench::Failure) { Bench::Arguments.parse(argv) }
      assert_equal 1, error.message.lines.size
    end
  end

  def test_unknown_cases_and_servers_are_refused
    assert_raises(Bench::Failure) { Bench::Catalogue.cases(%w[hello helo]) }
    assert_raises(Bench::Failure) { Bench::Selection.new(%w[pumma]) }
  end

  def test_every_case_names_servers_of_the_table
    assert(Bench::Catalogue::CASES.values.all? { |kase| kase.peers.all?(Bench::Peer) })
  end
end
