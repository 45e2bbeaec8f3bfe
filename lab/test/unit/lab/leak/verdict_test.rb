# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/leak/census"
require "carat/lab/leak/verdict"

module Carat
  class VerdictTest < Minitest::Test
    REQUESTS = 10_007
    ROUNDS = 11
    MIB = 1024 * 1024
    SEEDS = 100
    GROWS = ->(requests) { 400 * requests }
    SETTLES = ->(requests) { 20 * MIB * (1 - Math.exp(-requests / (3.0 * REQUESTS))) }
    LITTLE = ->(requests) { 20_000 * (requests / REQUESTS) }
    STEPS = ->(requests) { (60 * requests) + (requests > 4 * REQUESTS ? 4 * MIB : 0) }
    FILLS = ->(requests) { 100 * [requests, 4 * REQUESTS].min }

    # What grows, the verdict, and how.
    {
      "nothing" => ["no leak", {}],
      "everything" => ["leak", { live: GROWS, active: GROWS, resident: GROWS, pss: GROWS }],
      "a table in a step beside steady objects" => ["leak", { live: STEPS, objects: ->(requests) { requests } }],
      "a cache that is full within the run" => ["bounded cache", { live: FILLS }],
      "a cache more and more slowly" => ["bounded cache", { live: SETTLES }],
      "resident memory alone" => ["held by the allocator", { resident: GROWS, pss: GROWS }],
      "pages more and more slowly" => ["no leak", { active: SETTLES, resident: SETTLES, rss: SETTLES, pss: SETTLES }],
      "less than a page of the heap in a round" =>
        ["no leak", { active: LITTLE, resident: LITTLE, rss: LITTLE, pss: LITTLE }],
      "pages that the allocator does not know" => ["growing mappings", { rss: GROWS, pss: GROWS }]
    }.each do |what, (name, growth)|
      define_method("test_growth_of_#{what.tr(" ", "_")}_is_#{name.tr(" ", "_")}") do
        each_seed { |seed| assert_equal name, verdict(seed, **growth).name }
      end
    end

    def test_sixteen_bytes_a_request_are_a_leak_with_its_slope
      each_seed do |seed|
        verdict = verdict(seed, live: ->(requests) { 16 * requests })

        assert_equal "leak", verdict.name
        assert_in_delta 16, verdict.line.slope, 16 * 0.15
      end
    end

    def test_slope_of_a_cache_is_that_with_which_it_fills
      each_seed do |seed|
        verdict = verdict(seed, live: ->(requests) { 100 * [requests, 7 * REQUESTS].min })

        assert_equal "bounded cache", verdict.name
        assert_in_delta 100, verdict.line.slope, 100 * 0.15
      end
    end

    def test_cache_that_fills_until_the_last_rounds_is_no_leak
      filling = ->(requests) { [requests, 9 * REQUESTS].min }

      each_seed do |seed|
        verdict = verdict(seed, live: ->(requests) { 100 * filling.call(requests) }, objects: filling)

        assert_equal ["bounded cache", 1.0], [verdict.name, verdict.filled]
      end
    end

    def test_pages_that_grow_without_live_bytes_are_fragmentation
      each_seed do |seed|
        verdict = verdict(seed, active: ->(requests) { 120 * requests }, pss: ->(requests) { 120 * requests })

        assert_equal "fragmentation", verdict.name
        assert_in_delta 120, verdict.line.slope, 120 * 0.15
      end
    end

    def test_descriptors_that_stay_open_have_a_verdict
      each_seed do |seed|
        verdict = verdict(seed, descriptors: ->(requests) { requests / 10 })

        assert_equal ["growing descriptors", :descriptors], [verdict.name, verdict.measure]
        assert_in_delta 0.1, verdict.line.slope, 0.001
      end
    end

    def test_growth_of_the_first_rounds_alone_is_no_leak
      each_seed do |seed|
        refute_equal "leak", verdict(seed, live: ->(requests) { requests.zero? ? 0 : 300_000 }).name
      end
    end

    private

    def each_seed(&)
      (1..SEEDS).each(&)
    end

    # Growth by measurement, on top of a steady amount with some noise: pages are noisier than bytes.
    def verdict(seed, **growth)
      random = Random.new(seed)
      censuses = (0..ROUNDS).map do |round|
        requests = round * REQUESTS
        Lab::Leak::Census.new(requests:, threads: 4, **amounts(random).to_h do |measure, amount|
          [measure, amount + growth.fetch(measure, ->(_) { 0 }).call(requests)]
        end)
      end
      Lab::Leak::Verdict.new(censuses)
    end

    def amounts(random)
      { live: (40 * MIB) + random.rand(-2000..2000), objects: 500_000 + random.rand(-20..20),
        active: (45 * MIB) + (4096 * random.rand(-20..20)), resident: (48 * MIB) + (4096 * random.rand(-40..40)),
        pss: (60 * MIB) + (4096 * random.rand(-40..40)), rss: 70 * MIB, descriptors: 30 }
    end
  end
end
