# frozen_string_literal: true

require_relative "../../lab/html/page"
require_relative "../../lab/html/table"
require_relative "../../lab/html/tree_plot"
require "carat/cli/units"
require_relative "../short_path"
require_relative "requirers"
require_relative "sums"
require_relative "text"

module Carat
  module CLI
    class Weigh
      # The report as a page: the tree of the files, by `require` or by gem, and the sums.
      class Page
        Node = Lab::Html::TreePlot::Node
        MEASURES = [["memory", "bytes"], %w[objects objects], %w[seconds seconds]]
                   .map { |name, unit| Lab::Html::TreePlot::Measure.new(name, unit) }.freeze
        NOTHING = [0, 0, 0].freeze
        # The last rows of Sums.parts and Sums.shares.
        SUMS = 3
        private_constant :Node, :MEASURES, :NOTHING, :SUMS

        # `report` is a Lab::Weigh::Report; `title` names the application.
        def initialize(report, title)
          @report = report
          @title = title
        end

        # Returns the HTML.
        def to_s
          lead = "The boot adds #{Units.bytes(@report.parts.growth)}."
          page = Lab::Html::Page.new(@title, lead:, remarks:, facts:)
          page.section("Files", tree)
          page.section("Gems", table("Own memory of the files of each gem, in MiB", Sums.gems(@report)))
          page.section("Parts", table("The growth of the process, in MiB", Sums.parts(@report), sums: SUMS))
          share(page) if @report.shares&.after_fork
          page.to_s
        end

        private

        def share(page)
          page.section("Sharing", table("What a worker shares with the mold, and what it has for itself, in MiB",
                                        Sums.shares(@report.shares), sums: SUMS))
        end

        def remarks
          shares = @report.shares
          [*Text.remarks(@report), *(worker(shares) if shares&.after_load), *shares&.problem]
        end

        def worker(shares)
          shared, own = %i[shared private].map { |kind| Units.bytes(shares.after_load.sum(&kind)) }
          "After #{shares.requests} requests for #{shares.target}, a worker shares #{shared} with the mold and has " \
            "#{own} for itself."
        end

        def facts
          { "boot" => format("%.2f s", @report.seconds), "files" => @report.tree.files.size.to_s,
            "gems" => @report.tree.gems.size.to_s }
        end

        def tree
          Lab::Html::TreePlot.new("Live memory by file", MEASURES,
                                  { "by require" => branch(@report.tree.root), "by gem" => gems })
        end

        def branch(file)
          node(file, file.children.map { |child| branch(child) })
        end

        def gems
          groups = @report.tree.files.group_by(&:gem)
          Node.new("gems", "", NOTHING, groups.map do |name, files|
            Node.new(name, name, NOTHING, files.map { |file| node(file, []) })
          end)
        end

        def node(file, children)
          note = [*("failed" if file.failed), *(Requirers.words(file) if file.also_by.any?)].join("; ")
          weight = file.weight
          Node.new(ShortPath.of(file.path), file.gem, [weight.bytes, weight.objects, weight.seconds.round(6)], children,
                   (note unless note.empty?))
        end

        def table(caption, rows, **options)
          Lab::Html::Table.new(caption, rows.first, rows.drop(1), **options)
        end
      end
    end
  end
end
