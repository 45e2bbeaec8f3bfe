# frozen_string_literal: true

require "carat/cli/columns"
require "carat/cli/printable"

module Carat
  module CLI
    class Compare
      # Formats a report for readers.
      class Text
        # The largest --budget in seconds, a day.
        LONGEST = 86_400
        MIB = 1024 * 1024
        # By quantity: its words, unit, factor, and decimals.
        COLUMNS = {
          "requests_per_second" => ["requests/s", 1, 1], "p50" => ["p50, ms", 1000, 3], "p99" => ["p99, ms", 1000, 3],
          "cpu_per_request" => ["CPU a request, ms", 1000, 4], "pss_at_rest" => ["PSS at rest, MiB", 1.0 / MIB, 2],
          "pss_at_end" => ["PSS at the end, MiB", 1.0 / MIB, 2],
          "allocations_per_request" => ["objects a request", 1, 2], "failed_share" => ["failed, %", 100, 2]
        }.freeze
        private_constant :MIB, :COLUMNS

        # `report` is the Hash of a Lab::Compare::Report.
        def initialize(report)
          @report = report
        end

        # Returns the text; terminal control characters are escaped.
        def to_s
          parts = [summary, table, memory].reject(&:empty?)
          parts.map { |lines| lines.map { |line| Printable.text(line) }.join("\n") }.join("\n\n")
        end

        # The verdict, and what was compared.
        def summary
          lines = [verdict]
          lines += @report["setups"].map { |setup| "#{setup["name"]}: #{setup["choice"]}" }
          lines << format("rounds: %d, each with %d s of load; all intervals together hold with %d %%",
                          @report["rounds"], @report["seconds"], @report["confidence"] * 100)
          lines << "The comparison was interrupted; this is what is known." if @report["interrupted"]
          lines
        end

        # Rows of the quantities, the first with the names of the columns.
        def rows
          [["", "A", "B", "B to A", "interval", ""], *@report["quantities"].map { |row| cells(row) }]
        end

        # The name of a quantity, without its unit.
        def self.name_of(quantity)
          COLUMNS.fetch(quantity).first[/[^,]+/]
        end

        private

        def verdict
          case @report["verdict"]
          when "equal" then "equal: nothing differs beyond noise and 1 %"
          when "different" then "different: #{names { |row| row["differs"] }}"
          when "not known" then "not known: #{names { |row| !row["settled"] }} may differ; #{remedy}"
          else "no verdict: #{remedy}"
          end
        end

        # On a machine as noisy as in these rounds.
        def remedy
          return "this machine is too busy for a verdict within a day" if @report["budget_needed"].to_i > LONGEST

          "about #{@report["rounds_needed"]} rounds would tell: --budget #{@report["budget_needed"]}"
        end

        def names(&)
          @report["quantities"].select(&).map { |row| Text.name_of(row["name"]) }.join(", ")
        end

        def table
          Columns.lines(rows, left: [0])
        end

        def cells(row)
          words, factor, decimals = COLUMNS.fetch(row["name"])
          values = row.values_at("a", "b").map { |value| value ? format("%.#{decimals}f", value * factor) : "unknown" }
          [words, *values, row["ratio"] ? percent(row["ratio"]) : "", interval(row), judgment(row)]
        end

        def judgment(row)
          return "differs" if row["differs"]
          return "" unless row["interval"]

          row["settled"] ? "equal" : "not known"
        end

        # Of a share, the interval is that of the difference.
        def interval(row)
          bounds = row["interval"] or return ""

          bounds.map { |bound| row["ratio"] ? percent(bound) : format("%+.2f", bound * 100) }.join(" to ")
        end

        # What the code that differs adds to the memory, or nothing when it is the same.
        def memory
          found = @report["memory"] or return []

          ["memory after the boot, MiB: what differs", "      A        B    B - A      own  file",
           *branch(found["tree"], 0)]
        end

        def branch(node, depth)
          one, other = node["inclusive"]
          own = node["own"].reverse.reduce(:-)
          sizes = [one, other].map { |bytes| format("%7.2f", bytes.fdiv(MIB)) }
          # Adding 0.0 makes 0.0 of -0.0.
          changes = [other - one, own].map { |bytes| format("%+7.2f", bytes.fdiv(MIB).round(2) + 0.0) }
          ["#{[*sizes, *changes].join("  ")}  #{"  " * depth}#{node["file"]}",
           *node["children"].flat_map { |child| branch(child, depth + 1) }]
        end

        def percent(ratio)
          format("%+.1f %%", (ratio - 1) * 100)
        end
      end
    end
  end
end
