# frozen_string_literal: true

require_relative "../../../cli/collections"
require_relative "../../../cli/columns"
require_relative "../../../cli/printable"
require_relative "../../../cli/units"

module Carat
  module CLI
    class Top
      # The server's report as lines of text without control characters.
      class Page
        NOTHING = "-"
        # The heading of each column of processes, and the name of its value in a row. A narrow terminal cuts the last
        # columns off.
        PROCESSES = { "process" => "label", "state" => "state", "running" => "running", "requests" => "requests",
                      "private" => "private", "shared" => "shared", "PSS" => "pss", "age" => "age",
                      "gen" => "generation", "pid" => "pid" }.freeze
        # The heading of each column of requests, and the name of its value in a row.
        REQUESTS = { "age" => "age", "worker" => "worker", "lane" => "lane", "state" => "stage",
                     "request" => "request" }.freeze
        # The values that are aligned left.
        WORDS = %w[label state stage request].freeze
        SIZES = %w[private shared pss].freeze
        private_constant :NOTHING, :SIZES, :WORDS

        class << self
          # Returns a time as text, in a unit that suits its length; NOTHING for nil.
          def time(seconds)
            case seconds
            when nil then NOTHING
            when 0...1 then "#{(seconds * 1000).round(seconds < 0.01 ? 1 : 0)} ms"
            when 1...120 then "#{seconds.round(1)} s"
            else Units.seconds(seconds)
            end
          end
        end

        # `overview` is the parsed response to GET /top; `rate` is the number of requests a second, or nil.
        def initialize(overview, rate: nil)
          @overview = overview
          @rate = rate
        end

        # Returns how many requests a second the workers have begun between this page and `overview`, or nil if that is
        # unknown.
        def rate(overview, seconds)
          before = value("processes").to_h { |row| [row["pid"], row["requests"]] }
          begun = overview.fetch("processes").sum { |row| row["requests"] - before.fetch(row["pid"], 0) }
          begun / seconds if begun >= 0 && seconds.positive?
        end

        # Returns all lines of the page.
        def lines
          [*summary, "", *table(PROCESSES, processes), "", *table(REQUESTS, requests), *omitted]
        end

        # Returns the lines above the tables.
        def summary
          [server, last_minute,
           "now: #{value("running")} running, #{value("waiting")} waiting of at most #{value("queue_limit")}; " \
           "#{value("connections")} connections; memory #{memory}",
           *Collections.line(@overview["collections"])].map { |line| Printable.text(line) }
        end

        # Returns the rows of the table PROCESSES, each a Hash.
        def processes
          weights = value("memory").to_h { |row| [row["pid"], row] }
          rows = [{ "label" => "edge", "pid" => value("pid"), "age" => value("uptime") },
                  *value("molds").map { |pid| { "label" => "mold", "pid" => pid } },
                  *value("processes").map { |row| row.merge("label" => "worker #{row.fetch("number")}") },
                  *value("app_processes").map { |row| row.merge("label" => row.values_at("name", "number").join(" ")) }]
          rows.map { |row| row.merge(weights.fetch(row["pid"], {}).slice(*SIZES)) }
        end

        # Returns the rows of the table REQUESTS, the oldest first.
        def requests
          value("requests")
        end

        # Returns the lines of a table: the heading, and one for each row.
        def table(columns, rows)
          cells = [columns.keys, *rows.map { |row| columns.values.map { |name| cell(name, row[name]) } }]
          left = columns.values.each_index.select { |index| WORDS.include?(columns.values[index]) }
          Columns.lines(cells, left:)
        end

        # Returns a line about the requests that are not listed, or nil.
        def omitted
          "... and #{value("omitted")} more" if value("omitted").positive?
        end

        private

        def value(name)
          @overview.fetch(name)
        end

        def server
          workers = value("workers")
          news = %w[restart upgrade].filter_map { |name| "#{name}: #{@overview[name]}" if @overview[name] }
          ["carat #{value("version")}, pid #{value("pid")}, #{value("state")}, up #{self.class.time(value("uptime"))}",
           "#{value("processes").size} workers of #{workers.fetch("wanted")} wanted", *news].join("; ")
        end

        def last_minute
          recent = @overview.dig("metrics", "recent") or return unmeasured
          seconds = recent.fetch("seconds")
          rates = recent.values_at("requests", "errors").map { |it| seconds.positive? ? (it / seconds).round(1) : "-" }
          times = recent.values_at("p50", "p99", "queue_p99").map { |it| self.class.time(it) }
          format("last minute: %s requests/s, %s errors/s; p50 %s, p99 %s; queue p99 %s", *rates, *times)
        end

        def unmeasured
          rate = @rate ? "#{@rate.round(1)} requests/s" : "rate not known yet"
          "last seconds: #{rate}; with the option metrics, also the times of the last minute"
        end

        def memory
          pss, private = %w[pss private].map { |name| value("memory").sum { |row| row.fetch(name) } }
          "#{Units.mib(pss)} MiB, #{Units.mib(private)} private"
        end

        def cell(name, value)
          case name
          when "age" then self.class.time(value)
          when *SIZES then Units.mib(value) || NOTHING
          else Printable.text((value || NOTHING).to_s).tr("\n", " ")
          end
        end
      end
    end
  end
end
