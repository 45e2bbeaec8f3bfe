# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/compare/signed_ranks"

module Carat
  class SignedRanksTest < Minitest::Test
    SERIES = 400

    def test_distribution_counts_all_signs
      (1..8).each do |size|
        sums = [0, 1].repeated_permutation(size).map do |signs|
          signs.each_with_index.sum { |sign, index| sign * (index + 1) }
        end
        shares = Lab::Compare::SignedRanks.distribution(size)

        assert_equal (0..size * (size + 1) / 2).map { |sum| sums.count(sum).fdiv(sums.size) }, shares
      end
    end

    def test_critical_values_are_those_of_the_tables
      # Two-sided 5 % of Wilcoxon's table: 0 for 6, 8 for 10, 25 for 15, 52 for 20.
      assert_equal([0, 8, 25, 52], [6, 10, 15, 20].map { |size| Lab::Compare::SignedRanks.tail(size, 0.05) })
      assert_nil Lab::Compare::SignedRanks.tail(5, 0.05)
      assert_equal 6, Lab::Compare::SignedRanks.fewest(0.05)
    end

    def test_interval_contains_the_estimate_and_narrows_with_the_confidence
      (1..50).each do |seed|
        ranks = ranks(noise(12, seed))
        low, high = ranks.interval(0.05)
        wide_low, wide_high = ranks.interval(0.001)

        assert_equal [wide_low, low, ranks.estimate, high, wide_high],
                     [wide_low, low, ranks.estimate, high, wide_high].sort
      end
    end

    def test_interval_misses_the_truth_as_rarely_as_promised
      %i[rand cauchy].each do |kind|
        missed = (1..SERIES).count do |seed|
          low, high = ranks(noise(12, seed, kind)).interval(0.05)
          low > 0 || high < 0
        end

        # 20 are expected, and more than 40 are out of the question.
        assert_operator missed, :<=, SERIES * 0.1, kind.to_s
      end
    end

    def test_equal_rounds_have_an_interval_without_width
      assert_equal [[0.0, 0.0], 0.0], [ranks([0.0] * 12).interval(0.001), ranks([0.0] * 12).estimate]
    end

    def test_nothing_cannot_be_ranked
      assert_raises(ArgumentError) { ranks([]) }
    end

    private

    def ranks(values)
      Lab::Compare::SignedRanks.new(values)
    end

    # Symmetric around 0, evenly distributed or with wild values.
    def noise(size, seed, kind = :rand)
      random = Random.new(seed)
      Array.new(size) { kind == :rand ? random.rand(-1.0..1.0) : Math.tan(Math::PI * (random.rand - 0.5)) }
    end
  end
end
