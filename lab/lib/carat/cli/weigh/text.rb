# frozen_string_literal: true

require "carat/cli/columns"
require "carat/cli/printable"
require_relative "../short_path"
require_relative "requirers"
require_relative "sums"

module Carat
  module CLI
    class Weigh
      # Formats a report for readers: the tree, the gems, and the parts of the growth.
      class Text
        INTERRUPTED = "The boot was interrupted; this is what was loaded until then."
        private_constant :INTERRUPTED

        # `report` is a Lab::Weigh::Report; `cut` is in bytes: files that weigh less, with all that they load, are left
        # out of the tree.
        def initialize(report, cut)
          @report = report
          @cut = cut
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          parts = [Text.remarks(@report), tree, table(Sums.gems(@report)), table(Sums.parts(@report)), *sharing]
          parts.map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        # Sentences about the boot of a Lab::Weigh::Report.
        def self.remarks(report)
          ["JIT compiler: #{report.jit || "none"}", (INTERRUPTED if report.interrupted)].compact
        end

        private

        def sharing
          shares = @report.shares or return []
          [shares.after_fork ? table(Sums.shares(shares)) : [], [*shares.problem]].reject(&:empty?)
        end

        def tree
          ["    MiB      own  seconds  file", *branch(@report.tree.root, 0)]
        end

        def branch(file, depth)
          whole = file.inclusive
          return [] if depth.positive? && whole.bytes < @cut

          line = "#{Sums.mib(whole.bytes, 7)}  #{Sums.mib(file.weight.bytes, 7)}  #{format("%7.3f", whole.seconds)}  "
          children = file.children.sort_by { |child| -child.inclusive.bytes }
          ["#{line}#{"  " * depth}#{label(file)}", *children.flat_map { |child| branch(child, depth + 1) }]
        end

        def label(file)
          gem = " [#{file.gem}]" unless file.gem == file.path
          also = "; #{Requirers.words(file)}" if file.also_by.any?
          "#{ShortPath.of(file.path)}#{gem}#{" failed" if file.failed}#{also}"
        end

        # The first column is aligned left, the others right.
        def table(rows)
          Columns.lines(rows, left: [0])
        end
      end
    end
  end
end
