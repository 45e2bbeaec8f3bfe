# frozen_string_literal: true

require "carat"
require "carat/launch/surroundings/collector_policy"
require "test_helper"

module Carat
  class CollectorPolicyTest < Minitest::Test
    STEP = "RUBY_GC_HEAP_GROWTH_MAX_#{RUBY_VERSION < "4.1" ? "SLOTS" : "BYTES"}".freeze

    def test_frugal_policy_sets_its_variables_and_lists_them
      variables = variables("frugal")
      assert_equal Launch::CollectorPolicy::FRUGAL, variables.except("CARAT_GC_VARIABLES")
      assert_equal Launch::CollectorPolicy::FRUGAL.keys, variables["CARAT_GC_VARIABLES"].split
    end

    def test_the_heap_of_ruby_3_4_grows_later_and_in_smaller_steps
      figures = Launch::CollectorPolicy::FRUGAL.values_at("RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO", STEP)
      assert_equal RUBY_VERSION < "3.4" ? %w[0.05 30000] : ["0.02", RUBY_VERSION < "4.1" ? "20000" : "800000"], figures
    end

    def test_policy_of_ruby_sets_nothing
      assert_empty variables("ruby")
    end

    def test_own_values_are_set_and_nothing_else
      assert_equal %w[RUBY_GC_HEAP_GROWTH_FACTOR CARAT_GC_VARIABLES],
                   variables({ "RUBY_GC_HEAP_GROWTH_FACTOR" => "1.1" }).keys
    end

    def test_variables_of_the_user_win
      user = { Launch::CollectorPolicy::FRUGAL.keys.first => "0.2" }
      variables = variables("frugal", user)
      assert_equal Launch::CollectorPolicy::FRUGAL.keys.drop(1), variables.keys.grep(/RUBY/)
      assert_empty variables("frugal", Launch::CollectorPolicy::FRUGAL)
    end

    def test_environment_of_the_user_is_restored_in_the_mold
      user = { "HOME" => "/root", "RUBY_GC_HEAP_FREE_SLOTS" => "1" }
      environment = user.merge(variables("frugal", user))
      Launch::CollectorPolicy.restore(environment)
      assert_equal user, environment
    end

    private

    def variables(policy, user = {})
      Launch::CollectorPolicy.new({ gc: policy }, user).variables
    end
  end
end
