# frozen_string_literal: true

module Bench
  # One figure over all rounds.
  class Series
    def initialize(values)
      @values = values
    end

    def median
      sorted = @values.sort
      middle = sorted.size / 2
      sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
    end

    # The value that so many in a hundred do not exceed; nil when there are none.
    def percentile(percent)
      @values.sort[(@values.size * percent).fdiv(100).ceil - 1] unless @values.empty?
    end

    def min
      @values.min
    end

    def max
      @values.max
    end

    def sum
      @values.sum
    end

    # The median of the quotients of the same round, so that a slow minute weighs on both.
    def ratio(other)
      Series.new(@values.zip(other.values).map { |mine, theirs| mine.fdiv(theirs) }).median
    end

    protected

    attr_reader :values
  end
end
