# frozen_string_literal: true

require_relative "verdict"

module Carat
  module Lab
    module Leak
      # What `carat leak` has found, as a Hash for JSON: `schema` says which version of lab/docs/leak.md describes it.
      class Report
        # Rises when a reader of an older version would misunderstand.
        SCHEMA = 1

        # The Runs, the Sites or nil, and whether the measurement was interrupted.
        attr_reader :runs, :sites, :interrupted

        # `verdicts` has a Verdict for each Run that ended.
        def initialize(runs, verdicts, sites:, interrupted:)
          @runs = runs
          @verdicts = verdicts
          @sites = sites
          @interrupted = interrupted
        end

        # The Verdict that counts: the most harmless one. Nil when no run ended.
        def verdict
          return if interrupted && @verdicts.size == 1 && @verdicts.first.name != Verdict::CLEAN

          @verdicts.min_by { |verdict| [Verdict::NAMES.index(verdict.name), verdict.line.slope] }
        end

        # Words about the descriptors or the mappings that have grown, if they are the verdict.
        def growing
          kind = { "growing descriptors" => :descriptors, "growing mappings" => :mappings }[verdict&.name]
          kind ? runs.last.growth(kind) : []
        end

        # Whether a second run has contradicted the first.
        def contradicted?
          @verdicts.map(&:name).uniq.size > 1
        end

        # Returns the Hash.
        def to_h
          { "schema" => SCHEMA, "interrupted" => interrupted, **judgment, "contradicted" => contradicted?,
            "requests" => runs.first&.plan&.requests, "rounds" => runs.first&.plan&.rounds,
            "sites" => (sites || []).map(&:report),
            "runs" => runs.map { |run| run.censuses.map { |census| census.to_h.transform_keys(&:to_s) } } }
        end

        private

        def judgment
          found = verdict
          return { "verdict" => nil, "bytes_per_request" => nil, "interval" => nil } unless found

          { "verdict" => found.name, "measure" => found.measure.to_s,
            "bytes_per_request" => found.line.slope.round(2),
            "interval" => found.line.interval.map { |bound| bound.round(2) },
            **slopes(found, :objects, :threads, :descriptors, :mappings), "growing" => growing,
            "filled" => found.filled&.round(2) }
        end

        def slopes(found, *measures)
          measures.to_h { |measure| ["#{measure}_per_request", found.lines.fetch(measure).slope.round(3)] }
        end
      end
    end
  end
end
