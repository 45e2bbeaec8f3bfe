# frozen_string_literal: true

require_relative "block_matcher"
require_relative "private_growth_check"

module Carat
  module Lab
    module InTest
      # Whether rounds of calls of a block add less private memory than a limit.
      class PrivateGrowthMatcher
        include BlockMatcher

        # `options` are those of Rounds.
        def initialize(limit, options)
          @limit = limit
          @options = options
        end

        # Whether the growth is below the limit.
        def matches?(block)
          @check = PrivateGrowthCheck.new(@limit, block, **@options)
          @check.below?
        end

        # The words of the expectation.
        def description
          "grow private memory below #{@limit}"
        end
      end
    end
  end
end
