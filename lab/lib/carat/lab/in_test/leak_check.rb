# frozen_string_literal: true

require_relative "../leak/verdict"
require_relative "rounds"

module Carat
  module Lab
    module InTest
      # Whether a block leaks memory, with the verdicts of `carat leak`. What a first run calls a leak must be one in
      # larger rounds, too, and grow as much with each call: in small rounds, a buffer that grows once near the end can
      # look like steady growth.
      class LeakCheck
        LEAK = Leak::Verdict::NAMES.last

        # A second run that leaks less than this share of what the first did shows no leak.
        STEADY = 0.6
        private_constant :LEAK, :STEADY

        # `options` are those of Rounds.
        def initialize(block, **options)
          @rounds = Rounds.new(block, **options)
          first = Leak::Verdict.new(@rounds.run.censuses)
          @verdict = first.name == LEAK ? Leak::Verdict.new(@rounds.larger_run.censuses) : first
          @steady = @verdict.line.slope >= STEADY * first.line.slope
        end

        # The name of the verdict.
        def name
          @verdict.name == LEAK && !@steady ? "bounded cache" : @verdict.name
        end

        # Whether it leaks.
        def leak?
          name == LEAK
        end

        # What has been measured, in words.
        def summary
          line = @verdict.line
          format("%s: %.1f bytes a call (%.1f to %.1f, 95 %%), %.2f objects a call", name, line.slope, *line.interval,
                 @verdict.lines.fetch(:objects).slope)
        end

        # The message of a failure, with the places.
        def message
          [summary, *Rounds.describe(@rounds.sites)].join("\n")
        end
      end
    end
  end
end
