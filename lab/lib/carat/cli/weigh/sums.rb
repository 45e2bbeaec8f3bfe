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
          "young_buffers" => "buffers of young objects (Ruby 3.1)",
          "untouched" => "allocated and never touched",
          "mapped_files" => "mapped files (libraries)",
          "machine_code" => "machine code (JIT)"
        }.freeze
        SHARES = ["shared after the fork", "private", "shared after the load", "private"].freeze
        private_constant :MIB, :GEMS, :PARTS, :SHARES

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

        # Returns rows in the same way, for Lab::Weigh::Shares with a sample.
        def shares(shares)
          samples = [shares.after_fork, shares.after_load].compact
          names = samples.flat_map { |rows| rows.map(&:name) }.uniq
          rows = names.map do |name|
            [name, *samples.flat_map { |sample| halves(sample.find { |row| row.name == name }) }]
          end
          [["MiB of a worker", *SHARES.first(2 * samples.size)], *rows,
           ["sum", *samples.flat_map { |sample| [sample.sum(&:shared), sample.sum(&:private)].map { |sum| mib(sum) } }],
           *pss(shares, samples)]
        end

        # Returns MiB, in so many columns.
        def mib(bytes, width = 0)
          format("%.2f", bytes / MIB).rjust(width)
        end

        def halves(row)
          row ? [mib(row.shared), mib(row.private)] : ["", ""]
        end

        def pss(shares, samples)
          kernel = %w[after_fork after_load].first(samples.size).map { |name| shares.pss(name) }
          [["PSS by these rows", *samples.flat_map { |sample| ["", mib(sample.sum(&:pss))] }],
           ["PSS by the kernel", *kernel.flat_map { |bytes| ["", mib(bytes)] }]]
        end
        private_class_method :halves, :pss
      end
    end
  end
end
