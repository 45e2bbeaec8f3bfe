# frozen_string_literal: true

module Carat
  module Lab
    module Compare
      # A quantity in which set-ups are compared: its name in a Sample, and how well it is to be known before a
      # comparison ends early, as a share of its value.
      Quantity = Struct.new(:name, :precision) do
        # Returns the difference between two values: the logarithm of their ratio. Nil when one is unknown or 0.
        def difference(one, other)
          Math.log(other.fdiv(one)) if one&.positive? && other&.positive?
        end

        # Returns the ratio, B to A, that such a difference stands for.
        def ratio(difference)
          Math.exp(difference)
        end

        # Whether a difference is large enough to be reported.
        def notable?(difference)
          (ratio(difference) - 1).abs > Quantity::NOTABLE
        end

        # How many times too wide an interval is: one of at most 1 is narrow enough.
        def excess(estimate, low, high)
          (high - low) / 2 / [precision, estimate.abs / 4].max
        end
      end

      # Smaller differences are not reported.
      Quantity::NOTABLE = 0.01

      # The share of requests that fail: mostly 0, so it is not the ratio that is compared, but the difference.
      class FailureShare < Quantity
        # Returns the difference between two shares.
        def difference(one, other)
          other - one if one && other
        end

        # There is none.
        def ratio(_difference)
          nil
        end

        # Any certain difference is.
        def notable?(difference)
          !difference.zero?
        end
      end

      # All of them. A tail of the latency is never known as well as the rest.
      Quantity::ALL = [
        Quantity.new(:requests_per_second, 0.01), Quantity.new(:p50, 0.02), Quantity.new(:p99, 0.05),
        Quantity.new(:cpu_per_request, 0.01), Quantity.new(:pss_at_rest, 0.01), Quantity.new(:pss_at_end, 0.01),
        Quantity.new(:allocations_per_request, 0.01), FailureShare.new(:failed_share, 0.001)
      ].freeze
    end
  end
end
