# frozen_string_literal: true

require "test_helper"
require "carat/lab/in_process/rate"

module Carat
  module Lab
    module InProcess
      class RateTest < Minitest::Test
        def test_rate_is_that_of_the_whole_time
          assert_in_delta 40 / 0.75, Rate.new([0.1, 0.2, 0.3, 0.15], 10).per_second, 1e-9
        end

        def test_interval_is_that_of_students_distribution
          # The mean of 1, 2, 3, 4, 5 is 3, its standard error 0.7071; the quantile for 4 degrees of freedom is 2.776.
          low, high = Rate.new([1.0, 2.0, 3.0, 4.0, 5.0], 1).interval

          assert_in_delta 1 / (3 + 1.9629), low, 1e-4
          assert_in_delta 1 / (3 - 1.9629), high, 1e-4
        end

        def test_even_batches_have_an_interval_without_width
          rate = Rate.new([0.5] * 40, 100)

          assert_equal [200.0, 200.0], rate.interval
        end

        def test_interval_ends_at_the_fastest_batch
          assert_in_delta 1.0, Rate.new([1.0, 100.0], 1).interval.last, 1e-9
        end

        def test_one_batch_has_no_interval_and_none_no_rate
          assert_nil Rate.new([0.5], 1).interval
          assert_nil Rate.new([], 1).per_second
          assert_nil Rate.new([], 1).interval
        end
      end
    end
  end
end
