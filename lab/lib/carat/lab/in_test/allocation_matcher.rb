# frozen_string_literal: true

require_relative "allocation_check"
require_relative "block_matcher"

module Carat
  module Lab
    module InTest
      # Whether a call of a block allocates at most so many objects.
      class AllocationMatcher
        include BlockMatcher

        def initialize(limit)
          @limit = limit
        end

        # Whether the limit holds.
        def matches?(block)
          @check = AllocationCheck.new(@limit, block)
          @check.at_most?
        end

        # The words of the expectation.
        def description
          "allocate at most #{@limit} objects"
        end
      end
    end
  end
end
