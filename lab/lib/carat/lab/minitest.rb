# frozen_string_literal: true

require "minitest"
require_relative "."
require_relative "in_test/allocation_check"
require_relative "in_test/leak_check"
require_relative "in_test/private_growth_check"

module Carat
  module Lab
    # Assertions about the memory of a block, in each test of Minitest. The block is called many times.
    module Minitest
      # Fails when the block leaks: when the live memory grows with each call. Returns the verdict of `carat leak`.
      # `options` are `calls` of a round, `rounds`, and the `seconds` of all rounds.
      def assert_no_leak(**options, &block)
        check = InTest::LeakCheck.new(block, **options)
        assert(!check.leak?, proc { check.message })
        check.name
      end

      # Fails when a call of the block allocates more than `limit` objects.
      def assert_allocations_at_most(limit, &block)
        check = InTest::AllocationCheck.new(limit, block)
        assert(check.at_most?, proc { check.message })
      end

      # Fails when rounds of calls add `limit` bytes of private memory or more, such as "1MB". `options` are those of
      # assert_no_leak.
      def assert_private_growth_below(limit, **options, &block)
        check = InTest::PrivateGrowthCheck.new(limit, block, **options)
        assert(check.below?, proc { check.message })
      end
    end

    ::Minitest::Test.include(Minitest)
  end
end
