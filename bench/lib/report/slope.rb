# frozen_string_literal: true

module Bench
  # How fast several series grow, by least squares: one slope for all, while each series has a base of its own.
  #
  # per_x: the slope; margin: half the width of its 95 % confidence interval, nil for too few points.
  class Slope < Struct.new(:per_x, :margin)
    LEAST_FREEDOM = 3
    # The 97.5 % point of the normal distribution.
    NORMAL = 1.959964

    # series: lists of points [x, y]. Returns nil when no series has two different x.
    def self.of(series)
      centered = series.map { |points| center(points) }
      spread = centered.flatten(1).sum { |x, _| x * x }
      return unless spread.positive?

      per_x = centered.flatten(1).sum { |x, y| x * y } / spread
      errors = centered.map { |points| points.map { |x, y| y - (per_x * x) } }
      new(per_x, margin(errors, spread))
    end

    # Whether the whole interval lies above the limit.
    def above?(limit) = !margin.nil? && per_x - margin > limit

    def self.center(points)
      mean_x, mean_y = points.transpose.map { |values| Statistics.mean(values) }
      points.map { |x, y| [x - mean_x, y - mean_y] }
    end

    # A reading resembles the one before it, so n readings say as much as n(1 - r)/(1 + r) independent ones, where r is
    # the correlation of neighbors (Santer et al. 2000, doi:10.1029/1999JD901105).
    def self.margin(errors, spread)
      squares = errors.flatten.sum { |error| error * error }
      return 0.0 if squares.zero?

      neighbors = errors.sum { |series| series.each_cons(2).sum { |one, other| one * other } }
      correlation = (neighbors / squares).clamp(0.0, 0.99)
      freedom = (errors.sum(&:size) * (1 - correlation) / (1 + correlation)) - errors.size - 1
      student(freedom) * Math.sqrt(squares / freedom / spread) if freedom >= LEAST_FREEDOM
    end

    # The 97.5 % point of Student's distribution, within 4 % from three degrees of freedom on.
    def self.student(freedom)
      z = NORMAL
      z + (((z**3) + z) / (4 * freedom)) + (((5 * (z**5)) + (16 * (z**3)) + (3 * z)) / (96 * (freedom**2)))
    end

    private_class_method :center, :margin, :student
  end
end
