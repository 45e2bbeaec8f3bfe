# frozen_string_literal: true

require_relative "../printable"

module Carat
  module CLI
    class Leak
      # Formats a report for readers: the verdict, the places, and the measurements of each round.
      class Text
        MIB = 1024.0 * 1024
        SITES = 10
        COLUMNS = %w[requests live objects active resident PSS threads].freeze
        REASONS = {
          "no leak" => "The live memory does not grow with the requests.",
          "leak" => "The live memory grows with each request.",
          "bounded cache" => "The live memory grows ever more slowly.",
          "fragmentation" => "The live memory stays the same, but it takes more and more pages.",
          "held by the allocator" => "The pages in use stay the same, but the process has more and more of them."
        }.freeze
        private_constant :MIB, :SITES, :COLUMNS, :REASONS

        # `report` is a Lab::Leak::Report.
        def initialize(report)
          @report = report
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          parts = [verdict, sites, *rounds].reject(&:empty?)
          parts.map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        private

        def verdict
          found = @report.verdict
          lines = found ? ["#{found.name}: #{slope(found)}", REASONS.fetch(found.name)] : ["no verdict"]
          lines << format("%d %% of it is full.", found.filled * 100) if found&.filled
          lines << "The first run alone said more: nothing is accused that a second run does not confirm." if
            @report.contradicted?
          lines << "The measurement was interrupted; this is what is known." if @report.interrupted
          lines
        end

        def slope(found)
          low, high = found.line.interval
          text = format("%.1f bytes a request (%.1f to %.1f, 95 %%)", found.line.slope, low, high)
          others = { objects: "objects", threads: "threads" }.filter_map do |measure, unit|
            line = found.lines.fetch(measure)
            format("%.2f %s a request", line.slope, unit) if line.rising? && found.name != "no leak"
          end
          [text, *others].join(", ")
        end

        def sites
          return [] unless @report.sites
          return ["No line of Ruby grows: look for threads, or for memory of C that other threads allocate."] if
            @report.sites.empty?

          ["bytes a request  objects  place", *@report.sites.first(SITES).flat_map { |site| describe(site) }]
        end

        def describe(site)
          place = site.file ? "#{site.file.delete_prefix("#{Dir.pwd}/")}:#{site.line}" : "(unknown line)"
          row = format("%15.1f  %7.2f  %s", site.bytes_per_request, site.objects_per_request, place)
          [row, *details(site).map { |line| "#{" " * 26}#{line}" }]
        end

        def details(site)
          kinds = site.classes.sort_by { |_, count| -count }.first(3).map(&:first)
          grows = "#{site.container} grows" if site.container
          memory = "memory of C" if kinds.empty? && grows.nil?
          stack = site.stack.map { |frame| "in #{frame}" } if memory
          [[*kinds, *grows, *memory].join(", "), *stack, *(site.path && "kept by #{site.path.join(" > ")}")]
        end

        def rounds
          @report.runs.each_with_index.map do |run, index|
            rows = run.censuses.map { |census| cells(census) }
            ["run #{index + 1}: rounds of #{run.plan.requests} requests, sizes in MiB", *table([COLUMNS, *rows])]
          end
        end

        def cells(census)
          [census.requests.to_s, mib(census.live), census.objects.to_s, mib(census.active), mib(census.resident),
           mib(census.pss), census.threads.to_s]
        end

        def table(rows)
          widths = rows.transpose.map { |column| column.map(&:length).max }
          rows.map { |row| row.zip(widths).map { |cell, width| cell.rjust(width) }.join("  ") }
        end

        def mib(bytes)
          format("%.3f", bytes / MIB)
        end
      end
    end
  end
end
