# frozen_string_literal: true

module Carat
  module Lab
    module InProcess
      # Iterations a second, from batches of iterations that were timed one after the other, with an interval of 95 %
      # (Student's distribution).
      class Rate
        # Fewer batches have no interval.
        BATCHES_LIMIT = 2

        # The quantiles of 97.5 % for 1 to 30 degrees of freedom; more are as good as a normal distribution.
        QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                     2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
                     2.045, 2.042].freeze
        NORMAL = 1.96
        private_constant :QUANTILES, :NORMAL

        # `seconds` has the time of each batch, in which there were `size` iterations.
        def initialize(seconds, size)
          @times = seconds.map { |time| time / size }
        end

        # Iterations a second; nil without a batch.
        def per_second
          1 / mean unless @times.empty?
        end

        # The two ends of the interval, the lower first; nil for too few batches.
        def interval
          return if @times.size < BATCHES_LIMIT

          margin = quantile * deviation / Math.sqrt(@times.size)
          # A mean time of 0 or less is as fast as the fastest batch.
          [1 / (mean + margin), 1 / [mean - margin, @times.min].max]
        end

        private

        def mean
          @times.sum / @times.size
        end

        def deviation
          Math.sqrt(@times.sum { |time| (time - mean)**2 } / (@times.size - 1))
        end

        def quantile
          QUANTILES.fetch(@times.size - 2, NORMAL)
        end
      end
    end
  end
end
