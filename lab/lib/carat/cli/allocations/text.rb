# frozen_string_literal: true

require "carat/log/relative_path"
require "carat/cli/printable"

module Carat
  module CLI
    class Allocations
      # Formats a report for readers: the sums, the gems, and the lines.
      class Text
        SITES = 30
        CLASSES = 3
        HEAD = "   objects       bytes      malloc  %s"
        # What follows it begins with the name of the gem.
        GEM = %r{.*/gems/(.+)}
        private_constant :SITES, :CLASSES, :HEAD, :GEM

        # `report` is the Hash of Lab::InProcess::AllocationReport.
        def initialize(report)
          @report = report
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          parts = [summary, gems, sites].reject(&:empty?)
          parts.map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        # The sums, and what else there is to know.
        def summary
          requests = @report.fetch("requests")
          lines = [format("%<objects>.1f objects and %<bytes>.0f bytes a request, of which malloc %<malloc>.0f " \
                          "(%<requests>d requests)", requests:, **numbers(@report))]
          lines << "JIT compiler: #{@report.fetch("jit") || "none"}"
          others = @report.fetch("objects_of_other_threads_per_request")
          lines << format("Other threads allocate %.1f objects a request.", others) if others.positive?
          lines << "Without jemalloc, bytes of malloc are not counted." unless @report.fetch("malloc_counted")
          lines << "The measurement was interrupted; this is what is known." if @report.fetch("interrupted")
          lines
        end

        # The classes with most objects.
        def classes(site)
          site.fetch("classes").first(CLASSES).map { |name, count| format("%s %.1f", name, count) }.join(", ")
        end

        private

        def gems
          table("gem", @report.fetch("gems")) { |gem| [gem.fetch("gem")] }
        end

        def sites
          shown, hidden = @report.fetch("sites").partition.with_index { |_, index| index < SITES }
          lines = table("place", shown) { |site| [place(site), classes(site)] }
          lines << "#{" " * 36}and #{hidden.size} more lines (--json has them)" if hidden.any?
          lines
        end

        def table(title, rows)
          return [] if rows.empty?

          [format(HEAD, title), *rows.flat_map { |row| cells(row, *yield(row)) }]
        end

        def cells(row, label, *details)
          first = format("%<objects>10.1f  %<bytes>10.0f  %<malloc>10.0f", numbers(row))
          ["#{first}  #{label}", *details.reject(&:empty?).map { |line| "#{" " * 36}#{line}" }]
        end

        def numbers(row)
          { objects: row.fetch("objects_per_request"), bytes: row.fetch("bytes_per_request"),
            malloc: row.fetch("malloc_bytes_per_request") }
        end

        def place(site)
          file = site.fetch("file")
          return "(unknown line)" unless file

          line = site.fetch("line")
          file[GEM] ? "#{file[GEM, 1]}:#{line}" : "#{Log::RelativePath.of(file)}:#{line} [#{site.fetch("gem")}]"
        end
      end
    end
  end
end
