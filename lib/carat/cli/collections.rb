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
        "full collections: #{between} between requests, #{beside} beside, #{within} within#{haste(report)} " \
          "(#{groups.sum { |group| group["seconds"] }.round(1)} s); " \
          "#{Log::Counted.of(report["waited_requests"], "request")} waited"
      end

      # Why those within requests did not wait, the most frequent reason first.
      def haste(report)
        reasons = report.fetch("haste").sort_by { |reason, count| [-count, reason] }
        words = reasons.map { |reason, count| "#{count} #{reason.tr("_", " ")}" }
        ": #{words.join(", ")}" unless words.empty?
      end
      private_class_method :haste
    end
  end
end
