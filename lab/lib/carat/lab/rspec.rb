# frozen_string_literal: true

require "rspec/core"
require_relative "."
require_relative "in_test/allocation_matcher"
require_relative "in_test/leak_matcher"
require_relative "in_test/private_growth_matcher"

module Carat
  module Lab
    # Matchers about the memory of a block, in each example of RSpec. The block is called many times.
    module RSpec
      # `expect { }.not_to leak_memory`; `options` are `calls` of a round, `rounds`, and the `seconds` of all rounds.
      def leak_memory(**options)
        InTest::LeakMatcher.new(options)
      end

      # `expect { }.to allocate_at_most(200)` objects in a call.
      def allocate_at_most(limit)
        InTest::AllocationMatcher.new(limit)
      end

      # `expect { }.to grow_private_memory_below("1MB")`; `options` are those of leak_memory.
      def grow_private_memory_below(limit, **options)
        InTest::PrivateGrowthMatcher.new(limit, options)
      end
    end

    ::RSpec.configure { |config| config.include(RSpec) }
  end
end
