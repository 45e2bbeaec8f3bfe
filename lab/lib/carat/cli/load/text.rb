# frozen_string_literal: true

require "carat/cli/columns"
require "carat/cli/printable"

module Carat
  module CLI
    class Load
      # Formats a report for readers.
      class Text
        MIB = 1024.0 * 1024
        ROWS = 10
        CORRECTED = "corrected by the generator: requests that a slow response kept from being sent count, too"
        private_constant :MIB, :ROWS, :CORRECTED

        # `report` is the Hash of a Lab::Load::Report.
        def initialize(report)
          @report = report
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          parts = [summary, latency, server, timeline].reject(&:empty?)
          parts.map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        # What happened, and to which server.
        def summary
          lines = [traffic]
          lines << "#{@report["url"]}#{@report["path"]}, #{generator}" if @report["url"]
          lines << "The load was interrupted; this is what is known." if @report["interrupted"]
          lines
        end

        # How many requests were answered, and how fast.
        def traffic
          return "no measurement" unless @report["requests"]

          format("%.1f requests/s: %d in %.1f s over %s, %s", *@report.values_at("requests_per_second", "requests"),
                 @report["seconds"], count(@report["connections"], "connection"), failures)
        end

        # A line about the latencies, if they are not those of the requests that were sent.
        def correction
          CORRECTED if @report.dig("generator", "corrects")
        end

        # What the processes of the server have taken.
        def server
          return ["CPU and memory are unknown: #{@report["unwatched"]}."] if @report["unwatched"]

          [cpu, pss].compact
        end

        # Rows of the timeline, the first with the names of the columns; empty without one.
        def intervals(points = @report["timeline"])
          return [] if points.size < 2

          [%w[seconds cores PSS processes], *points.each_cons(2).map { |before, point| row(before, point) }]
        end

        private

        def failures
          return "none failed" if @report["failed"].zero?

          kinds = @report["errors"].map { |kind, number| "#{kind}: #{number}" }
          "#{@report["failed"]} failed (#{kinds.join(", ")})"
        end

        def generator
          "#{@report.dig("generator", "name")} #{@report.dig("generator", "version")}"
        end

        def latency
          found = (@report["latency"] || {}).compact
          return [] if found.empty?

          times = found.values.map { |value| format("%.3f", value * 1000) }
          [*Columns.lines([["latency", *found.keys], ["ms", *times]]), *correction]
        end

        def cpu
          found = @report["cpu"] or return

          request = found["seconds_per_request"]
          each = format("%.4f ms a request, ", request * 1000) if request
          format("CPU  %s%.2f cores", each, found["cores"])
        end

        def pss
          return unless @report["cpu"]

          found = @report["pss"] or return "PSS  not readable by this user"

          sizes = found.values_at("before", "after", "peak").map { |bytes| bytes / MIB }
          format("PSS  %.1f MiB before, %.1f after, %.1f at most", *sizes)
        end

        def timeline
          points = @report["timeline"]
          size = ((points.size - 1) / ROWS.to_f).ceil.clamp(1..)
          rows = intervals([points.first, *points.drop(1).each_slice(size).map(&:last)].compact)
          rows.empty? ? [] : Columns.lines(rows)
        end

        def row(before, point)
          passed = point["seconds"] - before["seconds"]
          cores = passed.positive? ? format("%.2f", (point["cpu_seconds"] - before["cpu_seconds"]) / passed) : ""
          [format("%.1f", point["seconds"]), cores, point["pss"] ? format("%.1f", point["pss"] / MIB) : "",
           point["processes"].to_s]
        end

        def count(number, noun)
          "#{number} #{noun}#{"s" unless number == 1}"
        end
      end
    end
  end
end
