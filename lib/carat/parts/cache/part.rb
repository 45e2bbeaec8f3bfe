# frozen_string_literal: true

require_relative "../part"
require_relative "../../log/counted"

module Carat
  module Parts
    # The cache: the edge keeps public responses of the application.
    module Cache
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :cache, key: :limit, group: "Responses", type: :bytes, within: MIB.., edge: true, default_text: "off",
                       doc: "Memory for public responses of the application, which further requests get; at least 1 " \
                            "MiB."

        # The line of `carat status` about the responses, and the outcomes of requests for them.
        def status(report)
          cache = report["cache"] or return []
          used, limit = cache.values_at("used", "limit").map { |bytes| (bytes / MIB.to_f).round(1) }
          ["cache: #{Log::Counted.of(cache["entries"], "response")}, #{used} of #{limit} MiB; #{cache["hits"]} hits, " \
           "#{cache["misses"]} misses, #{cache["revalidated"]} confirmed, #{cache["evictions"]} evicted"]
        end

        # The name of the memory for the responses.
        def memory_name = "the cache"
      end
    end
  end
end
