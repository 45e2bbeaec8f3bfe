# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/compare/finding"
require "carat/lab/compare/looks"
require "carat/lab/compare/quantity"

module Carat
  class LooksTest < Minitest::Test
    COMPARISONS = 500
    ROUNDS = 30

    def test_looks_become_rarer_and_stricter
      looks = Lab::Compare::Looks.new
      due = (1..60).select do |rounds|
        looks.due?(rounds).tap { |yes| looks.advance if yes }
      end

      assert_equal [12, 18, 27, 41], due
      assert_operator looks.current, :<, Lab::Compare::Looks.new.current
    end

    def test_all_looks_together_spend_no_more_than_the_promise
      looks = Lab::Compare::Looks.new(8)
      spent = Array.new(50) { (8 * looks.current).tap { looks.advance } }.sum

      assert_operator spent, :<=, Lab::Compare::Looks::FALSE_ALARMS
    end

    def test_fewest_rounds_are_enough_for_an_interval
      looks = Lab::Compare::Looks.new

      assert_nil Lab::Compare::SignedRanks.tail(looks.first - 1, looks.current)
      assert Lab::Compare::SignedRanks.tail(looks.first, looks.current)
    end

    # As Comparison does it: after each look the rounds may end, and what is found then counts.
    def test_identical_set_ups_are_hardly_ever_called_different
      alarms = (1..COMPARISONS).count { |seed| compare(Random.new(seed), effect: 1.0).any?(&:differs?) }

      # 5 are promised at most; 15 of 500 would be beyond chance.
      assert_operator alarms, :<, 15
    end

    def test_difference_beyond_the_noise_is_found_with_its_size
      findings = (1..50).map { |seed| compare(Random.new(seed), effect: 1.1, disturbances: 0.02).first }
      covering = findings.count { |finding| finding.report["interval"].then { |low, high| low <= 1.1 && high >= 1.1 } }

      assert_operator findings.count(&:differs?), :>=, 40
      assert_operator covering, :>=, 49
    end

    def test_difference_below_1_percent_is_not_reported_however_certain
      assert_equal [false], compare(Random.new(1), effect: 1.005, noise: 0.0001, disturbances: 0).map(&:differs?).uniq
    end

    private

    # The Findings about quantities that are noisy in every round, and in some rounds disturbed.
    def compare(random, effect:, noise: 0.03, disturbances: 0.1)
      looks = Lab::Compare::Looks.new
      pairs = []
      ROUNDS.times do
        pairs << Array.new(Lab::Compare::Quantity::ALL.size) do
          [value(random, noise, disturbances), effect * value(random, noise, disturbances)]
        end
        next unless looks.due?(pairs.size)

        found = findings(pairs, looks)
        return found if found.all?(&:settled?)

        looks.advance
      end
      findings(pairs, looks)
    end

    def value(random, noise, disturbances)
      disturbed = random.rand < disturbances ? 0.5 : 1.0
      100 * disturbed * Math.exp(noise * (random.rand + random.rand + random.rand - 1.5))
    end

    def findings(pairs, looks)
      ratios = Lab::Compare::Quantity::ALL.each_with_index.reject { |quantity, _| quantity.name == :failed_share }
      ratios.map do |quantity, index|
        Lab::Compare::Finding.new(quantity, pairs.map { |all| all[index] }, looks.current)
      end
    end
  end
end
