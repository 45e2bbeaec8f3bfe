# frozen_string_literal: true

module Bench
  # Figures of several rounds.
  module Statistics
    def self.median(values)
      sorted = values.sort
      middle = sorted.size / 2
      sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
    end

    def self.mean(values) = values.sum.fdiv(values.size)

    # The value that `percent` of all values do not exceed; nil for none.
    def self.percentile(values, percent)
      values.sort[(values.size * percent).fdiv(100).ceil - 1] unless values.empty?
    end

    # The median of the quotients of the same round, so that a slow minute affects both sides.
    def self.ratio(values, others) = median(values.zip(others).map { |one, other| one.fdiv(other) })

    # Base and slope of the line that fits the points (x, y) best, by least squares. Takes two different x.
    def self.line(points)
      mean_x, mean_y = points.transpose.map { |values| mean(values) }
      spread = points.sum { |x, _| (x - mean_x)**2 }
      slope = points.sum { |x, y| (x - mean_x) * (y - mean_y) } / spread
      [mean_y - (slope * mean_x), slope]
    end
  end
end
