# frozen_string_literal: true

require_relative "../part"
require_relative "../../log/counted"

module Carat
  module Parts
    # Public responses of the application that the edge keeps.
    module Cache
      # The options of the part, and what the server calls.
      class Part < Parts::Part
        option :cache, key: :limit, group: "Responses", type: :bytes, within: MIB.., edge: true, default_text: "off",
                       doc: "Memory for public responses of the application, which further requests get; at least 1 " \
                            "MiB."

        # The responses, and what became of requests for them.
        def status(report)
          cache = report["cache"] or return []
          used, limit = cache.values_at("used", "limit").map { |bytes| (bytes / MIB.to_f).round(1) }
          ["cache: #{Log::Counted.of(cache["entries"], "response")}, #{used} of #{limit} MiB; #{cache["hits"]} hits, " \
           "#{cache["misses"]} misses, #{cache["revalidated"]} confirmed, #{cache["evictions"]} evicted"]
        end

        # The responses.
        def memory_name = "the cache"
      end
    end
  end
end
