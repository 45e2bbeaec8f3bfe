# frozen_string_literal: true

require_relative "../leak/report"
require_relative "../leak/verdict"
require_relative "rounds"

module Carat
  module Lab
    module InTest
      # Whether a block leaks memory, with the verdicts of `carat leak`. A second run must confirm a leak.
      class LeakCheck
        LEAK = Leak::Verdict::NAMES.last
        private_constant :LEAK

        # `options` are those of Rounds.
        def initialize(block, **options)
          @rounds = Rounds.new(block, **options)
          runs = [@rounds.run]
          verdicts = [Leak::Verdict.new(runs.first.censuses)]
          if verdicts.first.name == LEAK
            runs << @rounds.run
            verdicts << Leak::Verdict.new(runs.last.censuses)
          end
          @verdict = Leak::Report.new(runs, verdicts, sites: nil, interrupted: false).verdict
        end

        # The name of the verdict.
        def name
          @verdict.name
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
