# frozen_string_literal: true

require "carat/config/type/number/byte_count"
require_relative "../leak/line"
require_relative "../leak/verdict"
require_relative "rounds"

module Carat
  module Lab
    module InTest
      # How much private memory rounds of calls of a block add for certain, after a warm-up.
      class PrivateGrowthCheck
        SIZES = Config::Type::ByteCount.new(0..)
        KIB = 1024.0
        private_constant :SIZES, :KIB

        # `limit` is a number of bytes, or text such as "1MB"; `options` are those of Rounds. Raises
        # Config::InvalidValue.
        def initialize(limit, block, **options)
          @limit = SIZES.parse(limit)
          @rounds = Rounds.new(block, **options)
          @censuses = @rounds.run.censuses
          @line = Leak::Line.new(@censuses.map(&:requests), @censuses.map(&:private))
        end

        # Whether the growth is below the limit.
        def below?
          growth < @limit
        end

        # The message of a failure, with the places.
        def message
          [summary, *Rounds.describe(@rounds.sites)].join("\n")
        end

        # What has been measured, in words.
        def summary
          format("%d calls add at least %.0f KiB of private memory, less than %.0f KiB are allowed: " \
                 "%.1f bytes a call (%.1f to %.1f, 95 %%); verdict: %s", calls, growth / KIB, @limit / KIB, @line.slope,
                 *@line.interval, Leak::Verdict.new(@censuses).name)
        end

        private

        # A steady growth is that of the line, a step that of the last rounds over the first ones.
        def growth
          third = @censuses.size / 3
          step = @censuses.last(third).map(&:private).min - @censuses.first(third).map(&:private).max
          [@line.interval.first * calls, step, 0].max
        end

        def calls
          @censuses.last.requests - @censuses.first.requests
        end
      end
    end
  end
end
