# frozen_string_literal: true

require_relative "../../lab/html/interval_plot"
require_relative "../../lab/html/page"
require_relative "../../lab/html/table"
require_relative "text"

module Carat
  module CLI
    class Ips
      # The report as a page: the rates of the paths with their intervals.
      class Page
        UNIT = "iterations/s"
        private_constant :UNIT

        # `report` is the Hash of Lab::InProcess::IterationReport; `title` names the paths.
        def initialize(report, title)
          @report = report
          @title = title
          @text = Text.new(report)
        end

        # Returns the HTML.
        def to_s
          page = Lab::Html::Page.new(@title, lead:, remarks: @text.remarks)
          columns, *rows = @text.rows
          page.section("Paths", *plot, Lab::Html::Table.new("Iterations of each path", columns.rotate(-1),
                                                            rows.map { |row| row.rotate(-1) }))
          page.to_s
        end

        private

        def measured
          @report.fetch("paths").select { |path| path.fetch("interval") }
        end

        def lead
          measured.map { |path| format("%s: %.1f %s", path["path"], path["iterations_per_second"], UNIT) }.join(", ")
        end

        def plot
          return if measured.empty?

          intervals = measured.map do |path|
            Lab::Html::IntervalPlot::Interval.new(path["path"], path["iterations_per_second"], *path["interval"])
          end
          Lab::Html::IntervalPlot.new("Rates", unit: UNIT, intervals:, note: "The lines are the intervals of 95 %.")
        end
      end
    end
  end
end
