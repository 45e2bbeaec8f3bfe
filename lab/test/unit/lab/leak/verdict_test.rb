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
    DOUBLES = ->(requests) { 1 << (108 * (requests + 3000)).bit_length }
    # The sizes of jemalloc: four for each doubling.
    REALLOCATES = lambda do |requests|
      (5..8).map { |part| DOUBLES.call(requests) / 8 * part }.find { |size| size >= 108 * (requests + 3000) }
    end
    HALVES = ->(requests) { 1.5**Math.log(16 * (requests + 2000), 1.5).ceil }
    ONE_STEP = ->(requests) { requests > 5 * REQUESTS ? 300_000 : 0 }
    FILLS = ->(requests) { 100 * [requests, 4 * REQUESTS].min }

    # What grows, the verdict, and how.
    {
      "nothing" => ["no leak", {}],
      "everything" => ["leak", { live: GROWS, active: GROWS, resident: GROWS, pss: GROWS }],
      "a table in a step beside steady objects" => ["leak", { live: STEPS, objects: ->(requests) { requests } }],
      "a block that doubles" => ["leak", { live: DOUBLES, active: DOUBLES, pss: DOUBLES }],
      "a block that is allocated anew" => ["leak", { live: REALLOCATES, active: REALLOCATES, pss: REALLOCATES }],
      "a block that grows by halves" => ["leak", { live: HALVES }],
      "a cache that is full within the run" => ["bounded cache", { live: FILLS }],
      "a cache more and more slowly" => ["bounded cache", { live: SETTLES }],
      "descriptors beside a cache that fills slowly" =>
        ["growing descriptors", { live: SETTLES, descriptors: ->(requests) { requests } }],
      "mappings beside a cache that is full" =>
        ["growing mappings", { live: FILLS, rss: GROWS, pss: GROWS }],
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

    def test_slope_above_zero_is_never_a_clean_bill
      [1, 2, 3.7, 5.5, 8].product([1.25, 1.5, 2.0]).each do |start, factor|
        grows = ->(requests) { factor**Math.log((50 * requests) + (start * 100_000), factor).ceil }
        each_seed do |seed|
          verdict = verdict(seed, live: grows)
          next unless verdict.lines[:live].rising? && verdict.lines[:live].slope > 0.5

          refute_equal "no leak", verdict.name, "seed #{seed}, from #{start}, factor #{factor}"
        end
      end
    end

    def test_one_step_in_the_middle_is_no_leak
      each_seed { |seed| refute_equal "leak", verdict(seed, live: ONE_STEP).name }
    end

    def test_step_that_no_other_round_comes_near_is_named
      assert_in_delta 300_000, verdict(1, live: ONE_STEP).single_step, 5000
      assert_nil verdict(1, live: GROWS).single_step
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
        pss: (60 * MIB) + (4096 * random.rand(-40..40)), rss: 70 * MIB, descriptors: 30, mappings: 300 }
    end
  end
end
