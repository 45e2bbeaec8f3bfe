# frozen_string_literal: true

require_relative "../../lab/html/line_plot"
require_relative "../../lab/html/page"
require_relative "../../lab/html/table"
require_relative "../../lab/leak/line"
require_relative "findings"
require_relative "rounds"

module Carat
  module CLI
    class Leak
      # The report as a page: the places, and for each run plots with their fitted lines.
      class Page
        # The plots of a run: the name and the unit of a measurement.
        PLOTS = { live: ["live memory", "bytes"], objects: ["live objects", "objects"],
                  active: ["pages in use", "bytes"], pss: ["PSS", "bytes"] }.freeze
        PLACES = ["place", "bytes a request", "objects", "what grows", "why it stays"].freeze
        private_constant :PLOTS, :PLACES

        # `report` is a Lab::Leak::Report; `title` names the application.
        def initialize(report, title)
          @report = report
          @title = title
          @findings = Findings.new(report)
        end

        # Returns the HTML.
        def to_s
          page = Lab::Html::Page.new(@title, lead: @findings.verdict, remarks: @findings.remarks)
          page.section("Places", places) if @findings.sites
          @report.runs.each.with_index(1) do |run, number|
            page.section("Run #{number}", *plots(run),
                         Lab::Html::Table.new(Rounds.title(run, number), Rounds.columns, Rounds.rows(run), texts: []))
          end
          page.to_s
        end

        private

        def places
          @findings.nowhere || begin
            rows = @findings.sites.map do |site|
              [site.place, format("%.1f", site.bytes_per_request), format("%.2f", site.objects_per_request),
               site.growth, site.reasons]
            end
            Lab::Html::Table.new("Lines at which memory grows", PLACES, rows, texts: PLACES.values_at(0, 3, 4))
          end
        end

        def plots(run)
          return [] if run.censuses.empty?

          PLOTS.map { |measure, (name, unit)| plot(run.censuses, measure, name, unit) }
        end

        def plot(censuses, measure, name, unit)
          xs = censuses.map(&:requests)
          ys = censuses.map(&measure)
          line = Lab::Leak::Line.new(xs, ys) if xs.size >= Lab::Leak::Line::POINTS_LIMIT
          series = [series("measured", ys, "points"), *(line && fitted(line, xs, ys))]
          Lab::Html::LinePlot.new(name, axis: "requests", xs:, unit:, series:, note: line ? note(line, unit) : "")
        end

        # The line and the ends of its interval, all through the middle of the points.
        def fitted(line, xs, ys)
          middle = xs.sum.fdiv(xs.size)
          height = median(xs.zip(ys).map { |x, y| y + (line.slope * (middle - x)) })
          low, high = line.interval.map { |slope| xs.map { |x| height + (slope * (x - middle)) } }
          [series("fitted line", xs.map { |x| height + (line.slope * (x - middle)) }, "line"),
           series("interval of 95 %", low, "edge"), series("interval of 95 %", high, "edge")]
        end

        def series(name, values, style)
          Lab::Html::LinePlot::Series.new(name, values, style)
        end

        def note(line, unit)
          numbers = [line.slope, *line.interval].map { |number| format(unit == "bytes" ? "%.1f" : "%.2f", number) }
          format("%s #{unit} a request (%s to %s, 95 %%)", *numbers)
        end

        def median(values)
          sorted = values.sort
          (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
        end
      end
    end
  end
end
