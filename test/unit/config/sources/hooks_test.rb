# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/sources/hooks"

module Carat
  class HooksTest < Minitest::Test
    def setup
      @hooks = Config::Hooks.new
    end

    def test_blocks_run_in_the_order_in_which_they_were_added
      calls = []
      @hooks.add(:before_fork) { |number| calls << [:first, number] }
      @hooks.add(:before_fork) { calls << :second }
      @hooks.add(:after_fork) { calls << :never }
      @hooks.run(:before_fork, 3)

      assert_equal [[:first, 3], :second], calls
    end

    def test_hook_that_does_not_exist_raises_key_error
      assert_raises(KeyError) { @hooks.run(:on_boot) }
      assert_raises(KeyError) { @hooks.add(:on_boot) { nil } }
    end
  end
end
