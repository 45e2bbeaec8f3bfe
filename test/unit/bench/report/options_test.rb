# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchOptionsTest < Minitest::Test
  def test_options_that_are_not_given_keep_their_defaults
    options = Bench::Options.parse(%w[--rounds 2 --cases hello,idle --beside 4])

    assert_equal [2, 5, %w[hello idle], nil, 4, nil],
                 options.to_h.values_at(:rounds, :duration, :cases, :servers, :beside, :json)
  end

  def test_a_quick_run_has_one_round_unless_told_otherwise
    options = Bench::Options.parse(%w[--quick --duration 2])

    assert_equal [true, 1, 2], [options.quick, options.rounds, options.duration]
  end

  def test_wrong_values_are_refused_in_one_line
    [%w[--rounds 0], %w[--rounds many], %w[--connections 1 --wrk-threads 2], %w[stray], %w[--odd]].each do |argv|
      error = assert_raises(Bench::Failure) { Bench::Options.parse(argv) }
      assert_equal 1, error.message.lines.size
    end
  end
end
