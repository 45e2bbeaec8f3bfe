# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/leak/census"
require "carat/lab/leak/plan"

module Carat
  class PlanTest < Minitest::Test
    MIB = 1024 * 1024
    MACHINE = { available: 8 * 1024 * MIB, files: 65_536, mappings: 65_530 }.freeze

    # What the trial says, and how many requests a round has then: a prime.
    {
      "fast" => [10_007, { seconds: 0.02 }],
      # 10 ms a request: 25 s for 11 rounds.
      "slow" => [227, { seconds: 2.11 }],
      "leaving_descriptors_open" => [89, { descriptors: 422 }],
      # 30 and 211 of 1024 are open. Two of three others are for 11 rounds.
      "leaving_some_of_few_descriptors_open" => [47, { descriptors: 211, files: 1024 }],
      # Two mappings of each suspended Fiber.
      "suspending_fibers" => [907, { mappings: 422 }],
      "starting_threads" => [181, { threads: 211 }],
      # A MiB a request, and a quarter of 8 GiB for 11 rounds.
      "filling_the_memory" => [181, { pss: 211 * MIB }],
      "very_slow" => [101, { seconds: 500 }]
    }.each do |what, (requests, trial)|
      define_method("test_application_#{what}_gets_#{requests}_requests") do
        assert_equal requests, fit(**trial).requests
      end
    end

    def test_chosen_number_stays
      plan = Lab::Leak::Plan.new(requests: 50)

      assert_equal 50, plan.trial
      assert_equal 50, plan.fit(500, census, census(threads: 1000), **MACHINE).requests
    end

    def test_rounds_become_smaller_when_requests_become_slower
      plan = fit

      assert_equal 10_007, plan.next_round(0.0001, 20, 10)
      assert_equal 997, plan.next_round(0.001, 10, 10)
      assert_equal 101, plan.next_round(0.001, -1, 1)
      assert_equal 50, Lab::Leak::Plan.new(requests: 50).next_round(1, 1, 10)
      assert_equal 89, fit(descriptors: 422).next_round(1, 1, 10)
    end

    def test_largest_prime_is_found
      assert_equal [2, 2, 7, 97, 10_007], [1, 2, 10, 100, 10_008].map { |number| Lab::Leak::Plan.prime(number) }
    end

    private

    def fit(seconds: 0.02, files: 65_536, **after)
      Lab::Leak::Plan.new.fit(seconds, census, census(**after), **MACHINE, files:)
    end

    def census(threads: 0, pss: 0, descriptors: 0, mappings: 0)
      Lab::Leak::Census.new(threads: 5 + threads, pss: (50 * MIB) + pss, descriptors: 30 + descriptors,
                            mappings: 300 + mappings)
    end
  end
end
