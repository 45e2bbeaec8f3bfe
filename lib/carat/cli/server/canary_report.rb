# frozen_string_literal: true

require_relative "../columns"

module Carat
  module CLI
    # What old code and new came to while a restart waits, side by side.
    class CanaryReport
      COLUMNS = ["", "gen", "workers", "died", "requests", "errors", "p50 ms", "p99 ms"].freeze
      UNITS = { "request" => "requests", "cookie" => "clients" }.freeze
      private_constant :COLUMNS, :UNITS

      # `report` is the member `canary` of a reply of the server. Raises KeyError.
      def initialize(report)
        @report = report
      end

      # Returns the share in a sentence.
      def share
        percent, by = @report.fetch_values("percent", "by")
        "#{percent} % of #{UNITS.fetch(by)} go to generation #{new.fetch("generation")}"
      end

      # Returns what ends the canary.
      def decider
        @report["judge"] ? "the server decides" : "carat restart --go or --rollback decides"
      end

      # Returns the lines of a table.
      def lines
        Columns.lines([COLUMNS, row("old", @report.fetch("old")), row("new", new)])
      end

      private

      def new
        @report.fetch("new")
      end

      def row(name, code)
        [name, *%w[generation workers dead_workers requests errors].map { |key| Integer(code.fetch(key)).to_s },
         *%w[p50 p99].map { |key| milliseconds(code.fetch(key)) }]
      end

      def milliseconds(seconds)
        seconds ? format("%.1f", seconds * 1000) : "-"
      end
    end
  end
end
