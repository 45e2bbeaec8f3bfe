# frozen_string_literal: true

require_relative "../../lab/html/interval_plot"
require_relative "../../lab/html/line_plot"
require_relative "../../lab/html/page"
require_relative "../../lab/html/table"
require_relative "../../lab/html/tree_plot"
require_relative "text"

module Carat
  module CLI
    class Compare
      # The report as a page: the differences with their intervals, and the figures of each round.
      class Page
        # The plots of the rounds: the unit of a quantity.
        UNITS = { "requests_per_second" => "requests/s", "p50" => "seconds", "p99" => "seconds",
                  "cpu_per_request" => "seconds", "pss_at_rest" => "bytes", "pss_at_end" => "bytes",
                  "allocations_per_request" => "objects" }.freeze
        COLUMNS = ["quantity", "A", "B", "B to A", "interval", "verdict"].freeze
        MEASURES = ["B - A", "A", "B"].map { |name| Lab::Html::TreePlot::Measure.new(name, "bytes") }.freeze
        private_constant :UNITS, :COLUMNS, :MEASURES

        # `report` is the Hash of a Lab::Compare::Report; `title` names the page.
        def initialize(report, title)
          @report = report
          @title = title
          @text = Text.new(report)
        end

        # Returns the HTML.
        def to_s
          lead, *remarks = @text.summary
          page = Lab::Html::Page.new(@title, lead:, remarks:)
          page.section("Differences", *differences,
                       Lab::Html::Table.new("Medians of all rounds", COLUMNS, @text.rows.drop(1)))
          page.section("Rounds", *rounds) if @report["samples"].any?
          page.section("Memory after the boot", memory) if @report["memory"]
          page.to_s
        end

        private

        def memory
          Lab::Html::TreePlot.new("Files whose memory differs", MEASURES,
                                  { "by require" => branch(@report["memory"].fetch("tree")) })
        end

        # Files that do not differ are not in the tree; their bytes belong to the file above them.
        def branch(file)
          inner = file["children"].map { |child| child["inclusive"] }.transpose.map(&:sum)
          own = file["inclusive"].zip(inner).map { |bytes, below| bytes - (below || 0) }
          Lab::Html::TreePlot::Node.new(file["file"], file["gem"], [own.last - own.first, *own],
                                        file["children"].map { |child| branch(child) })
        end

        def differences
          known = @report["quantities"].select { |row| row["ratio"] && row["interval"] }
          return if known.empty?

          intervals = known.map do |row|
            numbers = [row["ratio"], *row["interval"]].map { |ratio| ((ratio - 1) * 100).round(2) }
            Lab::Html::IntervalPlot::Interval.new(Text.name_of(row["name"]), *numbers)
          end
          Lab::Html::IntervalPlot.new("B to A", unit: "%", intervals:,
                                                note: "An interval that contains 0 is no difference.")
        end

        def rounds
          xs = (1..@report["samples"].size).to_a
          UNITS.filter_map do |name, unit|
            series = @report["setups"].each_with_index.map do |setup, index|
              numbers = @report["samples"].map { |pair| pair[index][name] }
              Lab::Html::LinePlot::Series.new(setup["name"], numbers, "line")
            end
            next if series.all? { |each| each.numbers.none? }

            Lab::Html::LinePlot.new(Text.name_of(name), axis: "round", xs:, unit:, series:)
          end
        end
      end
    end
  end
end
