# frozen_string_literal: true

require_relative "../../columns"
require_relative "../../printable"
require_relative "../../units"
require_relative "../../../parts"

module Carat
  module CLI
    class Memory
      # Formats the server's memory report as a table.
      class Table
        NOTHING = "-"
        # The heading of each column, and the function that reads its cell from a process in the report.
        COLUMNS = {
          "process" => ->(row) { label(row) },
          "gen" => ->(row) { row["generation"] },
          "pid" => ->(row) { row["pid"] },
          "PSS" => ->(row) { mib(row.dig("memory", "pss")) },
          "private" => ->(row) { mib(row.dig("memory", "private")) },
          "shared" => ->(row) { mib(row.dig("memory", "shared")) },
          "swap" => ->(row) { mib(row.dig("memory", "swap")) },
          "sharing" => ->(row) { percent(row.dig("memory", "sharing_percent")) },
          "heap" => ->(row) { mib(row.dig("figures", "heap", "bytes")) },
          "live" => ->(row) { row.dig("figures", "heap", "live_slots") },
          "free" => ->(row) { row.dig("figures", "heap", "free_slots") },
          "malloc" => ->(row) { mib(row.dig("figures", "allocator", "allocated")) },
          "allocator" => ->(row) { row.dig("figures", "allocator", "name") },
          "JIT" => ->(row) { mib(row.dig("figures", "jit")&.values_at("code", "metadata")&.sum(&:to_i)) },
          "GC" => ->(row) { percent(share(row.dig("figures", "gc", "time_share"))) },
          "requests" => ->(row) { row["requests"] }
        }.freeze
        # The share of the limit from which a difference is shown. The edge measures its processes only every few
        # seconds, so a smaller difference may come from the time between the measurements.
        NOTABLE = 0.05
        private_constant :NOTABLE, :NOTHING

        class << self
          # Returns the name of a process: `worker 1`, `jobs 1`, or `jobs 1 forked` for the processes that it has
          # forked.
          def label(row)
            name = row["name"] || row["role"].tr("_", " ")
            [name, row["number"], ("forked" if row["role"] == "descendant")].compact.join(" ")
          end

          # Returns a number of bytes in MiB, as text; nil for nil.
          def mib(bytes) = Units.mib(bytes)

          # Returns a percentage as text; nil for nil.
          def percent(number)
            format("%.1f%%", number) if number
          end

          # Returns a fraction of 1 as a percentage; nil for nil.
          def share(fraction)
            fraction * 100 if fraction
          end
        end

        # `report` is the parsed response to GET /memory.
        def initialize(report)
          @report = report
          @processes = report.fetch("processes")
        end

        # Returns the table; terminal control characters are escaped.
        def to_s
          Printable.escaped([heading, *lines, "", *summary].join("\n"))
        end

        private

        def heading
          "carat #{@report["version"]}, pid #{@report["pid"]}; sizes in MiB, slots in numbers"
        end

        def lines
          rows = [COLUMNS.keys, *@processes.map { |process| COLUMNS.values.map { |cell| cell.call(process) } }, total]
          Columns.lines(rows.map { |row| row.map { |cell| (cell || NOTHING).to_s } }, left: [0])
        end

        def total
          cells = { "process" => "total", "requests" => @processes.sum { |process| process["requests"].to_i } }
          { "PSS" => "pss", "private" => "private", "shared" => "shared", "swap" => "swap" }.each do |column, name|
            cells[column] = mib(@report.dig("totals", name))
          end
          COLUMNS.keys.map { |column| cells.fetch(column, "") }
        end

        def summary
          [fit, without_sharing, *passing_molds, budget, shares, clients, *held, *silence].compact
        end

        def fit
          workers, base, each = @report["fit"]&.values_at("workers", "base", "per_worker")
          "n workers weigh #{mib(base)} + #{mib(each)} n; n is #{workers}" if workers
        end

        def without_sharing
          alone = @report["without_sharing"] or return
          saved = alone - @report.dig("totals", "pss") + @report.fetch("passing_molds")
          "without sharing they would weigh #{mib(alone)}: #{mib(saved.abs)} #{saved.negative? ? "less" : "more"}"
        end

        # The molds that run only for a while, such as a candidate. The sums above leave them out.
        def passing_molds
          molds = @processes.map(&COLUMNS.fetch("process")).grep(/ mold\z/)
          "#{molds.join(", ")}: #{mib(@report["passing_molds"])} more for a while" unless molds.empty?
        end

        def budget
          limit, used, whole, source = @report["budget"]&.values_at("limit", "used", "whole", "source")
          "#{mib(used)} of a budget of #{mib(limit)} used; the #{source} has #{mib(whole)}" if limit && whole
        end

        # The shares of the used budget. Without this line, readers who add up the table would miss the part that is not
        # in it.
        def shares
          limit, used = @report["budget"]&.values_at("limit", "used")
          sums = [@report["clients"], *holders.values].compact
          return if !limit || sums.empty?

          kept, held = %w[limit used].map { |name| sums.sum { |sum| sum[name] } }
          ours = @report["totals"].values_at("pss", "swap").sum - held
          rest = used - kept - ours
          others = ", #{mib(rest)} by others in the container, or earlier" if rest > limit * NOTABLE
          names = ["clients", *holders.keys].join(" and ")
          "  of that, #{mib(ours)} by the processes above, #{mib(kept)} kept for #{names}#{others}"
        end

        def clients
          limit, used = @report["clients"]&.values_at("limit", "used")
          "clients make the edge hold #{mib(used)} of at most #{mib(limit)} (client_memory)" if limit
        end

        # The report of each part for which the edge holds bytes, by the part's name for that memory.
        def holders
          named = Parts.select { |part| part.memory_name && @report[part.class.key.to_s] }
          named.to_h { |part| [part.memory_name, { "option" => part.class.key, **@report[part.class.key.to_s] }] }
        end

        def held
          holders.map do |name, sum|
            "#{name} holds #{mib(sum["used"])} of at most #{mib(sum["limit"])} (#{sum["option"]})"
          end
        end

        # The line about the processes that did not report their stats. The `process`es of the config file, which have a
        # name, are not asked for them.
        def silence
          asked = @processes.reject { |process| process["name"] }
          silent = asked.reject { |process| process["figures"] }.map(&COLUMNS.fetch("process"))
          return if silent.empty?

          "no stats from: #{silent.join(", ")} (booting, stopping, or a thread holds the GVL)"
        end

        def mib(bytes) = Units.mib(bytes)
      end
    end
  end
end
