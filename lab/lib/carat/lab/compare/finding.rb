# frozen_string_literal: true

require_relative "quantity"
require_relative "signed_ranks"

module Carat
  module Lab
    module Compare
      # What the rounds say about one quantity.
      class Finding
        # The Quantity.
        attr_reader :quantity

        # `pairs` are the values of A and B in each round, and an interval may miss the truth with this `probability`.
        def initialize(quantity, pairs, probability)
          @quantity = quantity
          @pairs = pairs
          differences = pairs.filter_map { |one, other| quantity.difference(one, other) }
          return if differences.empty?

          ranks = SignedRanks.new(differences)
          @estimate = ranks.estimate
          @interval = ranks.interval(probability)
        end

        # Whether the set-ups differ beyond noise, and by more than 1 %. Nil when that is not known.
        def differs?
          return unless @interval

          (@interval.first.positive? || @interval.last.negative?) && quantity.notable?(@estimate)
        end

        # Whether the difference is known so well that further rounds would say little more.
        def settled?
          measured? ? !@interval.nil? && excess <= 1 : true
        end

        # How many rounds would settle it: an interval is half as wide after four times as many. Nil when it is settled,
        # or has no interval yet.
        def rounds_needed
          (@pairs.size * (excess**2)).ceil if @interval && !settled?
        end

        # Whether both set-ups have the quantity.
        def measured?
          !@estimate.nil?
        end

        # Returns a Hash for JSON: the medians of A and B, and the ratio, or for the share of failed requests the
        # difference, with its interval.
        def report
          { "name" => quantity.name.to_s, "a" => median(:first), "b" => median(:last), "differs" => differs?,
            "settled" => settled?, "ratio" => ratio(@estimate),
            "interval" => @interval&.map { |bound| ratio(bound) || bound.round(6) } }
        end

        private

        def excess
          quantity.excess(@estimate, *@interval)
        end

        def ratio(difference)
          difference && quantity.ratio(difference)&.round(4)
        end

        def median(side)
          values = @pairs.filter_map(&side).sort
          return if values.empty?

          ((values[(values.size - 1) / 2] + values[values.size / 2]) / 2.0).round(9)
        end
      end
    end
  end
end
