# frozen_string_literal: true

require_relative "../../lab/html/page"
require_relative "../../lab/html/tree_plot"
require_relative "../short_path"
require_relative "text"

module Carat
  module CLI
    class Allocations
      # The report as a page: what a request allocates, by gem, file, and line.
      class Page
        Node = Lab::Html::TreePlot::Node
        MEASURES = [["objects", "objects"], %w[bytes bytes], ["bytes of malloc", "bytes"]]
                   .map { |name, unit| Lab::Html::TreePlot::Measure.new(name, unit) }.freeze
        NOTHING = [0, 0, 0].freeze
        private_constant :Node, :MEASURES, :NOTHING

        # `report` is the Hash of Lab::InProcess::AllocationReport; `title` names the paths.
        def initialize(report, title)
          @report = report
          @title = title
          @text = Text.new(report)
        end

        # Returns the HTML.
        def to_s
          lead, *remarks = @text.summary
          page = Lab::Html::Page.new(@title, lead:, remarks:)
          page.section("A request", Lab::Html::TreePlot.new("Allocations of a request", MEASURES,
                                                            { "by gem, file, and line" => tree }))
          page.to_s
        end

        private

        def tree
          gems = @report.fetch("sites").group_by { |site| site.fetch("gem") }
          Node.new("a request", "", NOTHING, gems.map { |gem, sites| Node.new(gem, gem, NOTHING, files(gem, sites)) })
        end

        def files(gem, sites)
          sites.group_by { |site| site.fetch("file") }.map do |file, lines|
            Node.new(file ? ShortPath.of(file) : "(unknown file)", gem, NOTHING, lines.map { |site| line(gem, site) })
          end
        end

        def line(gem, site)
          numbers = site.values_at("objects_per_request", "bytes_per_request", "malloc_bytes_per_request")
          place = site["file"] ? "#{File.basename(site["file"])}:#{site["line"]}" : "(unknown line)"
          Node.new(place, gem, numbers, [], @text.classes(site))
        end
      end
    end
  end
end
