# frozen_string_literal: true

require_relative "../../lab/html/line_plot"
require_relative "../../lab/html/page"
require_relative "../../lab/html/table"
require_relative "text"

module Carat
  module CLI
    class Load
      # The report as a page: latency by percentile, and CPU and memory over time.
      class Page
        # `report` is the Hash of a Lab::Load::Report.
        def initialize(report, title)
          @report = report
          @title = title
          @text = Text.new(report)
        end

        # Returns the HTML.
        def to_s
          page = Lab::Html::Page.new(@title, lead: @text.traffic, remarks: [*@text.summary.drop(1), *@text.server])
          page.section("Latency", *latency)
          page.section("Server", *timeline)
          page.to_s
        end

        private

        # The percentiles, without the slowest request, are at their place of the axis.
        def latency
          found = (@report["latency"] || {}).compact
          return ["Unknown."] if found.empty?

          percents = found.except("max")
          rows = found.map { |name, seconds| [name, format("%.3f", seconds * 1000)] }
          [plot("Latency", "percent", percents.keys.map { |name| Float(name.delete_prefix("p")) }, "seconds",
                [["latency", percents.values]],
                ["So many percent of the requests were not slower", *@text.correction].join("; "), tail: true),
           Lab::Html::Table.new("Latency", ["share of the requests", "ms"], rows)]
        end

        def timeline
          names, *rows = @text.intervals
          return ["Unknown."] unless names

          points = @report["timeline"].drop(1)
          xs = points.map { |point| point["seconds"] }
          pss = points.map { |point| point["pss"] }
          [plot("CPU", "seconds", xs, "cores", [["cores", rows.map { |row| Float(row[1], exception: false) }]], ""),
           (plot("Memory", "seconds", xs, "bytes", [["PSS", pss]], "") if pss.any?),
           Lab::Html::Table.new("CPU and PSS in MiB, of all processes", names, rows, texts: [])].compact
        end

        def plot(title, axis, xs, unit, series, note, tail: false)
          series = series.map { |name, numbers| Lab::Html::LinePlot::Series.new(name, numbers, "line") }
          Lab::Html::LinePlot.new(title, axis:, xs:, unit:, series:, note:, tail:)
        end
      end
    end
  end
end
