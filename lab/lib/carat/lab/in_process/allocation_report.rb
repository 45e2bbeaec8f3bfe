# frozen_string_literal: true

module Carat
  module Lab
    module InProcess
      # What `carat allocations` has found, as a Hash for JSON: `schema` says which version of lab/docs/allocations.md
      # describes it.
      class AllocationReport
        # Rises when a reader of an older version would misunderstand.
        SCHEMA = 1

        # `result` is that of AllocationCount, parsed.
        def initialize(result)
          @result = result
          @requests = result.fetch("requests")
          @sites = @requests.zero? ? [] : result.fetch("sites")
        end

        # Returns the Hash.
        def to_h
          { "schema" => SCHEMA, **@result.slice("interrupted", "jit", "paths", "requests"),
            "malloc_counted" => @result.fetch("malloc") ? true : false, **sums(@sites),
            "objects_of_other_threads_per_request" => a_request(@requests.zero? ? 0 : @result.fetch("elsewhere")),
            "gems" => gems, "sites" => @sites.map { |site| describe(site) } }
        end

        private

        def gems
          rows = @sites.group_by { |site| site.fetch("gem") }.map { |gem, sites| { "gem" => gem, **sums(sites) } }
          rows.sort_by { |row| -row.fetch("objects_per_request") }
        end

        def describe(site)
          { **site.slice("file", "line", "gem"), **sums([site]),
            "classes" => site.fetch("classes").transform_values { |count| a_request(count) } }
        end

        def sums(sites)
          objects, slots, malloc = %w[objects slots malloc].map { |name| sites.sum { |site| site.fetch(name) } }
          { "objects_per_request" => a_request(objects), "bytes_per_request" => a_request(slots + malloc),
            "malloc_bytes_per_request" => a_request(malloc) }
        end

        def a_request(sum)
          @requests.zero? ? 0.0 : sum.fdiv(@requests).round(3)
        end
      end
    end
  end
end
