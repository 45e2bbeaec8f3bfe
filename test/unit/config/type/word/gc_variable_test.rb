# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "rbconfig"
require "carat/config/type"

module Carat
  class GcVariableTest < Minitest::Test
    def test_names_may_lack_the_prefix_and_have_any_case
      assert_equal %w[RUBY_GC_HEAP_GROWTH_FACTOR 1.1], parse(:heap_growth_factor, 1.1)
      assert_equal %w[RUBY_GC_MALLOC_LIMIT 1000], parse("RUBY_GC_MALLOC_LIMIT", 1000)
      assert_equal %w[RUBY_GC_HEAP_FREE_SLOTS_GOAL_RATIO 0], parse(:heap_free_slots_goal_ratio, 0)
      assert_equal %w[RUBY_GC_HEAP_0_INIT_SLOTS 0], parse("heap_0_init_slots", 0)
    end

    def test_misspelled_name_gets_a_hint
      assert_refused "heap_free_slot_min_ratio: Ruby's garbage collector has no such variable; " \
                     "did you mean heap_free_slots_min_ratio?", :heap_free_slot_min_ratio, 0.05
      assert_refused "speed: Ruby's garbage collector has no such variable", :speed, 1
    end

    def test_values_that_ruby_would_ignore_are_rejected
      assert_refused "heap_growth_factor: 0.5 is not a number above 1 and up to 100", :heap_growth_factor, 0.5
      assert_refused "heap_free_slots: 1.5 is not a whole number", :heap_free_slots, 1.5
      assert_refused "heap_free_slots_min_ratio: 1.1 is not a number above 0 and up to 1", :heap_free_slots_min_ratio,
                     1.1
      [1.0, Float::INFINITY, Float::NAN, -1, "2", nil].each do |figure|
        assert_raises(Config::InvalidValue, figure.inspect) { parse(:heap_growth_factor, figure) }
      end
    end

    # With -w, Ruby prints the values that it has accepted.
    def test_ruby_accepts_the_names_and_values
      figures = { heap_free_slots: 2, heap_growth_factor: 1.2, heap_free_slots_min_ratio: 0.1,
                  heap_free_slots_goal_ratio: 0.2, heap_free_slots_max_ratio: 0.3, heap_oldobject_limit_factor: 2.5,
                  malloc_limit: 5, malloc_limit_max: 6, malloc_limit_growth_factor: 1.5, oldmalloc_limit: 7,
                  oldmalloc_limit_max: 8, oldmalloc_limit_growth_factor: 1.6 }
      figures["heap_growth_max_#{RUBY_VERSION < "4.1" ? "slots" : "bytes"}"] = 3
      variables = figures.to_h { |name, figure| parse(name, figure) }
      told, = Open3.capture2e(variables, RbConfig.ruby, "-w", "--disable-gems", "-e", "")

      assert_equal variables.keys.sort, told.scan(/^(RUBY_GC_\w+)=/).flatten.sort
      refute_match(/ignored/, told)
    end

    private

    def parse(name, figure)
      Config::Type::GcVariable.parse(name, figure)
    end

    def assert_refused(message, name, figure)
      assert_equal message, assert_raises(Config::InvalidValue) { parse(name, figure) }.message
    end
  end
end
