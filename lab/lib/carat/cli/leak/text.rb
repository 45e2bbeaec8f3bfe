# frozen_string_literal: true

require "carat/cli/columns"
require "carat/cli/printable"
require_relative "findings"
require_relative "rounds"

module Carat
  module CLI
    class Leak
      # Formats a report for readers: the verdict, the places, and the measurements of each round.
      class Text
        # `report` is a Lab::Leak::Report.
        def initialize(report)
          @report = report
          @findings = Findings.new(report)
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          parts = [[@findings.verdict, *@findings.remarks], sites, *rounds].reject(&:empty?)
          parts.map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        private

        def sites
          return [*@findings.nowhere] if @findings.sites.nil? || @findings.sites.empty?

          ["bytes a request  objects  place", *@findings.sites.flat_map { |site| describe(site) }]
        end

        def describe(site)
          row = format("%15.1f  %7.2f  %s", site.bytes_per_request, site.objects_per_request, site.place)
          [row, *[site.growth, *site.reasons].map { |line| "#{" " * 26}#{line}" }]
        end

        def rounds
          @report.runs.each.with_index(1).map do |run, number|
            [Rounds.title(run, number), *Columns.lines([Rounds.columns, *Rounds.rows(run)])]
          end
        end
      end
    end
  end
end
