# frozen_string_literal: true

require_relative "../unnamed_functions"

module Carat
  module CLI
    class Leak
      # What a report says, in sentences: the verdict, and what grows at each place.
      class Findings
        # Places in a report.
        SITES = 10
        REASONS = {
          "no leak" => "The live memory does not grow with the requests.",
          "leak" => "The live memory grows with each request.",
          "bounded cache" => "The live memory grows ever more slowly.",
          "fragmentation" => "The live memory stays the same, but it takes more and more pages.",
          "held by the allocator" => "The pages in use stay the same, but the process has more and more of them."
        }.freeze
        NOWHERE = "No line of Ruby grows: look for threads, or for memory of C that other threads allocate."
        private_constant :SITES, :REASONS, :NOWHERE

        # `report` is a Lab::Leak::Report.
        def initialize(report)
          @report = report
        end

        # The verdict and its slope.
        def verdict
          found = @report.verdict
          found ? "#{found.name}: #{slope(found)}" : "no verdict"
        end

        # Sentences about the verdict.
        def remarks
          found = @report.verdict
          [
            (REASONS.fetch(found.name) if found),
            (format("%d %% of it is full.", found.filled * 100) if found&.filled),
            ("The first run alone said more: nothing is accused that a second run does not confirm." if
              @report.contradicted?),
            ("The measurement was interrupted; this is what is known." if @report.interrupted),
            UnnamedFunctions.remark((sites || []).flat_map(&:stack))
          ].compact
        end

        # The places that a report names, or nil if none was looked for.
        def sites
          @report.sites&.first(SITES)
        end

        # The sentence for a search that has found nothing; nil otherwise.
        def nowhere
          NOWHERE if @report.sites&.empty?
        end

        private

        def slope(found)
          low, high = found.line.interval
          text = format("%.1f bytes a request (%.1f to %.1f, 95 %%)", found.line.slope, low, high)
          others = { objects: "objects", threads: "threads" }.filter_map do |measure, unit|
            line = found.lines.fetch(measure)
            format("%.2f %s a request", line.slope, unit) if line.rising? && found.name != "no leak"
          end
          [text, *others].join(", ")
        end
      end
    end
  end
end
