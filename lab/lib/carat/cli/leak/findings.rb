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
          "growing mappings" => "The allocator's memory stays the same, but the process maps more memory beside it.",
          "growing descriptors" => "The live memory stays the same, but each request leaves descriptors open.",
          "held by the allocator" => "The pages in use stay the same, but the process has more and more of them."
        }.freeze
        # How much faster than the live memory a place may grow: the trace has fewer requests.
        EXCESS = 1.25
        NONE = "0.00"
        NOWHERE = "No line grows: look for memory of C that a thread without Ruby allocates."
        private_constant :SITES, :REASONS, :EXCESS, :NONE, :NOWHERE

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
            step,
            ("The first run alone said more: nothing is accused that a second run does not confirm." if
              @report.contradicted?),
            ("The measurement was interrupted; this is what is known." if @report.interrupted),
            (["Grown in the rounds:", @report.growing.join("; ")].join(" ") unless @report.growing.empty?),
            exceeding,
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

        # What grows by doubling may take a single step in a run.
        def step
          bytes = @report.verdict&.single_step or return
          format("It grew once, by %.1f KiB: if that may be one step of many, let the rounds go on with --rounds %d.",
                 bytes / 1024.0, (@report.runs.first.plan.rounds * 2) + 1)
        end

        # A place that grows faster than all memory needs a word.
        def exceeding
          limit = @report.verdict&.line&.interval&.last or return
          places = (sites || []).select { |site| site.bytes_per_request > (limit * EXCESS) + 1 }.map(&:place)
          return if places.empty?

          "#{places.join(", ")}: more than the live memory grows. Other lines free memory, or the traced server grew " \
            "in steps."
        end

        def slope(found)
          low, high = found.line.interval
          unit = found.measure == :descriptors ? "descriptors" : "bytes"
          text = format("%.1f #{unit} a request (%.1f to %.1f, 95 %%)", found.line.slope, low, high)
          others = (%i[objects threads descriptors mappings] - [found.measure]).filter_map do |measure|
            line = found.lines.fetch(measure)
            number = format("%.2f", line.slope)
            "#{number} #{measure} a request" if line.rising? && number != NONE && found.name != "no leak"
          end
          [text, *others].join(", ")
        end
      end
    end
  end
end
