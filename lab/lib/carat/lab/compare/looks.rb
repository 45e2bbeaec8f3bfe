# frozen_string_literal: true

require_relative "quantity"
require_relative "signed_ranks"

module Carat
  module Lab
    module Compare
      # When a comparison looks at its intervals, and how wide they must be. Each quantity and each look is a chance of
      # a false alarm, so they share one small probability: a quantity gets the same part as the others, and each
      # further look half of what the look before it got.
      class Looks
        # The probability that identical set-ups are called different.
        FALSE_ALARMS = 0.01

        # Each look comes after so many times the rounds of the one before.
        GROWTH = 1.5
        private_constant :GROWTH

        # `quantities` is how many are compared.
        def initialize(quantities = Quantity::ALL.size)
          @quantities = quantities
          @next = first
          @number = 1
        end

        # Returns the rounds before the first look.
        def first
          SignedRanks.fewest(probability(1))
        end

        # Whether it is time for a look after so many rounds.
        def due?(rounds)
          rounds >= @next
        end

        # Returns the probability with which an interval of this look may miss the truth.
        def current
          probability(@number)
        end

        # Ends this look.
        def advance
          @next = (@next * GROWTH).ceil
          @number += 1
        end

        private

        def probability(number)
          FALSE_ALARMS / @quantities / (2**number)
        end
      end
    end
  end
end
