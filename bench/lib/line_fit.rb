# frozen_string_literal: true

module Bench
  # The line y = base + slope x that fits some points best, by least squares.
  LineFit = Struct.new(:base, :slope) do
    # points: pairs of numbers with two different x at least.
    def self.of(points)
      mean_x, mean_y = points.transpose.map { |values| values.sum.fdiv(values.size) }
      spread = points.sum { |x, _| (x - mean_x)**2 }
      slope = points.sum { |x, y| (x - mean_x) * (y - mean_y) } / spread
      new(mean_y - (slope * mean_x), slope)
    end
  end
end
