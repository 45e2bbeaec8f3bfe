# frozen_string_literal: true

require "carat"
require "carat/launch/collector_policy"
require "test_helper"

module Carat
  class CollectorPolicyTest < Minitest::Test
    def test_the_frugal_policy_is_set_with_the_names_of_its_variables
      variables = variables("frugal")
      assert_equal Launch::CollectorPolicy::FRUGAL, variables.except("CARAT_GC_VARIABLES")
      assert_equal Launch::CollectorPolicy::FRUGAL.keys, variables["CARAT_GC_VARIABLES"].split
    end

    def test_ruby_is_left_alone
      assert_empty variables("ruby")
    end

    def test_figures_of_one_s_own_are_set_and_nothing_else
      assert_equal %w[RUBY_GC_HEAP_GROWTH_FACTOR CARAT_GC_VARIABLES],
                   variables({ "RUBY_GC_HEAP_GROWTH_FACTOR" => "1.1" }).keys
    end

    def test_each_variable_of_the_user_wins
      user = { Launch::CollectorPolicy::FRUGAL.keys.first => "0.2" }
      variables = variables("frugal", user)
      assert_equal Launch::CollectorPolicy::FRUGAL.keys.drop(1), variables.keys.grep(/RUBY/)
      assert_empty variables("frugal", Launch::CollectorPolicy::FRUGAL)
    end

    def test_the_mold_s_environment_is_what_the_user_s_was
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
