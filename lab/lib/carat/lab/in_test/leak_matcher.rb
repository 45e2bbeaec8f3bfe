# frozen_string_literal: true

require_relative "block_matcher"
require_relative "leak_check"

module Carat
  module Lab
    module InTest
      # Whether a block leaks.
      class LeakMatcher
        include BlockMatcher

        # `options` are those of Rounds.
        def initialize(options)
          @options = options
        end

        # Whether the block leaks.
        def matches?(block)
          @check = LeakCheck.new(block, **@options)
          @check.leak?
        end

        # The words of the expectation.
        def description
          "leak memory"
        end
      end
    end
  end
end
