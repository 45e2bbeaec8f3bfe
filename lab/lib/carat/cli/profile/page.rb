# frozen_string_literal: true

require_relative "../../lab/html/page"
require_relative "../../lab/html/tree_plot"
require_relative "../short_path"

module Carat
  module CLI
    class Profile
      # The profile as a page: the calls, from the outermost or turned around.
      class Page
        Node = Lab::Html::TreePlot::Node

        # By unit of a Series: that of the page, and by what a number is divided.
        UNITS = { "bytes" => ["bytes", 1], "count" => ["objects", 1],
                  "microseconds" => ["seconds", 1_000_000.0] }.freeze
        private_constant :Node, :UNITS

        # `reports` are Lab::Profile::Reports; `remarks` are sentences about them.
        def initialize(reports, title, remarks)
          @reports = reports
          @title = title
          @remarks = remarks
        end

        # Returns the HTML.
        def to_s
          lead, *others = @remarks
          page = Lab::Html::Page.new(@title, lead:, remarks: others)
          @reports.each { |report| page.section(report.class::TITLE, plot(report)) }
          page.to_s
        end

        private

        def plot(report)
          measures = report.series.map do |series|
            Lab::Html::TreePlot::Measure.new(series.title, UNITS.fetch(series.unit).first)
          end
          Lab::Html::TreePlot.new("Calls", measures, { "calls" => root(report) }, inverted: true)
        end

        # A call comes after the one that made it.
        def root(report)
          series = report.series.map { |one| [one.member, UNITS.fetch(one.unit).last] }
          root = Node.new("all", "", series.map { 0 }, [])
          frames = report.tree.frames.map { |frame| [label(frame), group(frame)] }
          nodes = []
          report.tree.calls.each do |call|
            nodes << Node.new(*frames[call.frame], series.map { |member, unit| call.weight[member] / unit }, [])
            (call.caller ? nodes[call.caller] : root).children << nodes.last
          end
          root
        end

        def label(frame)
          return frame.name unless frame.file
          return "#{frame.name} (#{File.basename(frame.file)})" unless frame.line

          "#{frame.name} #{ShortPath.of(frame.file)}:#{frame.line}"
        end

        # Calls of one library have one color.
        def group(frame)
          case frame.kind
          when "ruby" then frame.file ? ShortPath.of(frame.file)[%r{\A[^/.]+}].to_s : "ruby"
          when "c" then File.basename(frame.file.to_s)
          when "object" then "object"
          else ""
          end
        end
      end
    end
  end
end
