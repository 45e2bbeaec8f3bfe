# frozen_string_literal: true

require "carat/cli/columns"
require "carat/cli/printable"

module Carat
  module CLI
    class Ips
      # Formats a report for readers: a line for each path.
      class Text
        COLUMNS = ["i/s", "95 %", "ms each", "GC", "objects", "malloc", "iterations", "path"].freeze
        MISSING = "-"
        private_constant :COLUMNS, :MISSING

        # `report` is the Hash of Lab::InProcess::IterationReport.
        def initialize(report)
          @report = report
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          lines = Columns.lines(rows, left: [rows.first.size - 1])
          [*lines, *remarks].map { |line| Printable.text(line) }.join("\n")
        end

        # Returns rows of Strings, the first with the names of the columns.
        def rows
          [COLUMNS, *@report.fetch("paths").map { |path| cells(path) }]
        end

        # Sentences about the measurement.
        def remarks
          ["JIT compiler: #{@report.fetch("jit") || "none"}",
           ("The measurement was interrupted; this is what is known." if @report.fetch("interrupted"))].compact
        end

        private

        def cells(path)
          rate = path.fetch("iterations_per_second")
          [number("%.1f", rate), interval(path.fetch("interval")), number("%.3f", rate && (1000 / rate)),
           number("%.1f %%", path.fetch("gc_share")&.*(100)), number("%.1f", path.fetch("objects_per_iteration")),
           number("%.0f", path.fetch("malloc_bytes_per_iteration")), path.fetch("iterations").to_s, path.fetch("path")]
        end

        def interval(ends)
          ends ? format("%.1f to %.1f", *ends) : MISSING
        end

        def number(format, value)
          value ? format(format, value) : MISSING
        end
      end
    end
  end
end
