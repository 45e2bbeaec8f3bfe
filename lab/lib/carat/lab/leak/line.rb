# frozen_string_literal: true

module Carat
  module Lab
    module Leak
      # The slope of a measurement over the number of requests, with its interval of 95 %. The slope is the median of
      # the slopes between all pairs of points (Theil and Sen), and the interval is that of Kendall's statistic (Sen,
      # 1968): one disturbed round changes neither by much.
      class Line
        # Fewer points have no interval.
        POINTS_LIMIT = 5

        # 95 % of a normal distribution lie within so many standard deviations.
        DEVIATIONS = 1.96
        private_constant :DEVIATIONS

        # The slope.
        attr_reader :slope

        # The two ends of the interval, the lower first.
        attr_reader :interval

        # `xs` and `ys` are Arrays of numbers of one length; the xs rise. Raises ArgumentError.
        def initialize(xs, ys)
          raise ArgumentError, "#{xs.size} values of x, #{ys.size} of y" unless xs.size == ys.size
          raise ArgumentError, "#{xs.size} points are too few" if xs.size < POINTS_LIMIT

          @slopes = slopes(xs, ys)
          @slope = median(@slopes)
          @interval = ends(xs.size)
        end

        # Whether it certainly rises.
        def rising?
          interval.first.positive?
        end

        # Half of the interval's width.
        def margin
          (interval.last - interval.first) / 2.0
        end

        private

        def slopes(xs, ys)
          pairs = xs.each_index.to_a.combination(2)
          pairs.map { |left, right| (ys[right] - ys[left]) / (xs[right] - xs[left]).to_f }.sort
        end

        def median(sorted)
          middle = sorted.size / 2
          sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
        end

        def ends(points)
          spread = DEVIATIONS * Math.sqrt(points * (points - 1) * ((2 * points) + 5) / 18.0)
          low = ((@slopes.size - spread) / 2).floor.clamp(0, @slopes.size - 1)
          [@slopes[low], @slopes[-1 - low]]
        end
      end
    end
  end
end
