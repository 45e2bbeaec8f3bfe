# frozen_string_literal: true

module Carat
  module Lab
    module InTest
      # What the matchers for RSpec have in common: a check of a block, and its messages.
      module BlockMatcher
        # The matchers are for blocks alone.
        def supports_block_expectations?
          true
        end

        # The message when a block was expected to match.
        def failure_message
          "expected the block to #{description}, but: #{@check.message}"
        end

        # The message when it was expected not to match.
        def failure_message_when_negated
          "expected the block not to #{description}, but: #{@check.message}"
        end
      end
    end
  end
end
