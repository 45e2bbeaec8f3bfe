# frozen_string_literal: true

require_relative "../log/counted"
require_relative "units"

module Carat
  module CLI
    # The full garbage collections of a server's workers, as a line.
    module Collections
      module_function

      # `report` is what the server says of its workers' collections, or nil. Returns nil when there were none.
      def line(report)
        return unless report

        groups = report.values_at("between_requests", "beside_requests", "within_requests")
        return if groups.sum { |group| group["count"] }.zero?

        between, beside, within = groups.map { |group| group["count"] }
        "full collections: #{between} between requests, #{beside} beside, #{within} within " \
          "(#{groups.sum { |group| group["seconds"] }.round(1)} s); " \
          "#{Log::Counted.of(report["waited_requests"], "request")} waited"
      end
    end
  end
end
