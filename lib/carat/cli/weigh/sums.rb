# frozen_string_literal: true

module Carat
  module CLI
    class Weigh
      # The sums of a report as text: by gem, and by part of the growth. The first cell of each row is a name.
      module Sums
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

        module_function

        # Returns rows, the first with the names of the columns, for a Lab::Weigh::Report.
        def gems(report)
          rows = report.tree.gems.map do |name, weight|
            [name, *[weight.bytes, weight.malloc, weight.slots].map { |bytes| mib(bytes) },
             weight.objects.to_s, weight.strings.to_s, format("%.3f", weight.seconds)]
          end
          [GEMS, *rows]
        end

        # Returns rows in the same way.
        def parts(report)
          sizes = report.parts
          rows = sizes.to_h.map { |name, bytes| [PARTS.fetch(name), mib(bytes)] }
          difference = sizes.growth - sizes.sum
          [["part of the growth", "MiB"], *rows, ["sum", mib(sizes.sum)], ["not explained", mib(difference)],
           ["growth of the process (PSS)", mib(sizes.growth)]]
        end

        # Returns MiB, in so many columns.
        def mib(bytes, width = 0)
          format("%.2f", bytes / MIB).rjust(width)
        end
      end
    end
  end
end
