# frozen_string_literal: true

require_relative "rate"

module Carat
  module Lab
    module InProcess
      # What `carat ips` has found, as a Hash for JSON: `schema` says which version of
      # lab/docs/allocations.md describes it.
      class IterationReport
        # Rises when a reader of an older version would misunderstand.
        SCHEMA = 1

        NANOSECONDS = 1e9
        private_constant :NANOSECONDS

        # `result` is that of IterationCount, parsed.
        def initialize(result)
          @result = result
        end

        # Returns the Hash.
        def to_h
          { "schema" => SCHEMA, **@result.slice("interrupted", "jit"), "malloc_counted" => @result.fetch("malloc"),
            "paths" => @result.fetch("paths").map { |path| describe(path) } }
        end

        private

        def describe(path)
          size, batches = path.values_at("iterations", "batches")
          seconds, collector, objects, bytes = batches.transpose
          iterations = size * batches.size
          { "path" => path.fetch("path"), **speed(Rate.new(seconds || [], size)),
            "gc_share" => ratio(collector, (seconds || []).sum * NANOSECONDS)&.round(4),
            "objects_per_iteration" => ratio(objects, iterations)&.round(3),
            "malloc_bytes_per_iteration" => (ratio(bytes, iterations)&.round(1) if @result.fetch("malloc")),
            "iterations" => iterations, "batches" => batches.size, "seconds" => (seconds || []).sum.round(3) }
        end

        def speed(rate)
          { "iterations_per_second" => rate.per_second&.round(3),
            "interval" => rate.interval&.map { |bound| bound.round(3) } }
        end

        def ratio(values, whole)
          values.sum / whole.to_f if values
        end
      end
    end
  end
end
