# frozen_string_literal: true

require_relative "../printable"

module Carat
  module CLI
    class Weigh
      # Formats a report for readers: the tree, the gems, and the parts of the growth.
      class Text
        MIB = 1024.0 * 1024
        GEMS = %w[gem MiB malloc slots objects strings seconds].freeze
        PARTS = {
          "files_malloc" => "malloc, by file",
          "files_slots" => "heap slots, by file",
          "collector" => "malloc of garbage collection",
          "other_malloc" => "malloc of other threads",
          "free_slots" => "heap pages without objects",
          "allocator" => "free parts of malloc's pages",
          "mapped_files" => "mapped files (libraries)"
        }.freeze
        private_constant :MIB, :GEMS, :PARTS

        # `report` is a Lab::Weigh::Report; `cut` is in bytes: files that weigh less, with all that they load, are left
        # out of the tree.
        def initialize(report, cut)
          @report = report
          @cut = cut
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          [*remark, tree, gems, parts].map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        private

        def remark
          [["The boot was interrupted; this is what was loaded until then."]] if @report.interrupted
        end

        def tree
          ["    MiB      own  seconds  file", *branch(@report.tree.root, 0)]
        end

        def branch(file, depth)
          whole = file.inclusive
          return [] if depth.positive? && whole.bytes < @cut

          line = "#{mib(whole.bytes, 7)}  #{mib(file.weight.bytes, 7)}  #{format("%7.3f", whole.seconds)}  "
          children = file.children.sort_by { |child| -child.inclusive.bytes }
          ["#{line}#{"  " * depth}#{label(file)}", *children.flat_map { |child| branch(child, depth + 1) }]
        end

        def label(file)
          gem = " [#{file.gem}]" unless file.gem == file.path
          also = "; also required by #{file.also_by.join(", ")}" if file.also_by.any?
          "#{file.path}#{gem}#{" failed" if file.failed}#{also}"
        end

        def gems
          rows = @report.tree.gems.map do |name, weight|
            [name, *[weight.bytes, weight.malloc, weight.slots].map { |bytes| mib(bytes) },
             weight.objects.to_s, weight.strings.to_s, format("%.3f", weight.seconds)]
          end
          table([GEMS, *rows])
        end

        def parts
          sizes = @report.parts
          rows = sizes.to_h.map { |name, bytes| [PARTS.fetch(name), mib(bytes)] }
          difference = sizes.growth - sizes.sum
          table([["part of the growth", "MiB"], *rows, ["sum", mib(sizes.sum)], ["not explained", mib(difference)],
                 ["growth of the process (PSS)", mib(sizes.growth)]])
        end

        # The first column is aligned left, the others right.
        def table(rows)
          widths = rows.transpose.map { |column| column.map(&:length).max }
          rows.map do |first, *others|
            [first.ljust(widths.first), *others.zip(widths.drop(1)).map { |cell, width| cell.rjust(width) }].join("  ")
          end
        end

        def mib(bytes, width = 0)
          format("%.2f", bytes / MIB).rjust(width)
        end
      end
    end
  end
end
