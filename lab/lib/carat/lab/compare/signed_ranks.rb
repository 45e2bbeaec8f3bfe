# frozen_string_literal: true

module Carat
  module Lab
    module Compare
      # The typical one of some differences, and its interval, without any assumption about their distribution but
      # symmetry: the median of the means of all pairs (Hodges and Lehmann), and the exact interval of Wilcoxon's signed
      # ranks. A few disturbed rounds change neither by much.
      class SignedRanks
        # `differences` is an Array of numbers, one or more.
        def initialize(differences)
          raise ArgumentError, "no differences" if differences.empty?

          @size = differences.size
          pairs = differences.each_index.flat_map { |left| (left...@size).map { |right| [left, right] } }
          @means = pairs.map { |left, right| (differences[left] + differences[right]) / 2.0 }.sort
        end

        # Returns the typical difference.
        def estimate
          middle = @means.size / 2
          @means.size.odd? ? @means[middle] : (@means[middle - 1] + @means[middle]) / 2.0
        end

        # Returns both ends of the interval that misses the true difference with at most this probability; nil when
        # there are too few differences for that.
        def interval(probability)
          tail = self.class.tail(@size, probability)
          [@means[tail], @means[-1 - tail]] if tail
        end

        class << self
          # Returns the fewest differences that have an interval.
          def fewest(probability)
            (1..).find { |size| 2.0**(1 - size) <= probability }
          end

          # Returns how many means of pairs lie outside of the interval at each end, or nil.
          def tail(size, probability)
            @tails ||= {}
            @tails.fetch([size, probability]) { |key| @tails[key] = count(size, probability) }
          end

          # Returns the probability of each sum of positive ranks, from 0 on, when each difference is as likely positive
          # as negative.
          def distribution(size)
            ways = [1.0]
            (1..size).each do |rank|
              shifted = Array.new(rank, 0.0) + ways
              ways = shifted.each_with_index.map { |count, sum| (count + ways.fetch(sum, 0.0)) / 2 }
            end
            ways
          end

          private

          def count(size, probability)
            sum = 0.0
            found = distribution(size).find_index { |share| (sum += 2 * share) > probability }
            found - 1 if found.positive?
          end
        end
      end
    end
  end
end
