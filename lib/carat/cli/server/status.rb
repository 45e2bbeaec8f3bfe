# frozen_string_literal: true

require_relative "../../log/counted"
require_relative "../../parts"
require_relative "../collections"
require_relative "../columns"
require_relative "../control/control_command"
require_relative "../printable"
require_relative "../units"

module Carat
  module CLI
    # `carat status`.
    class Status
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "status [--pid PID | --control-socket PATH] [--json]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows what a running server and its workers do."

      # The columns of the tables of workers, further processes and pools: for each heading, the name of the value in
      # the server's report.
      WORKER = { "worker" => "number", "gen" => "generation", "pid" => "pid", "state" => "state", "age" => "age",
                 "running" => "running", "tunnels" => "tunnels", "requests" => "requests" }.freeze
      PROCESS = { "process" => "name", "number" => "number", "gen" => "generation", "pid" => "pid", "state" => "state",
                  "age" => "age", "private MiB" => "private", "descendants" => "descendants" }.freeze
      POOL = { "pool" => "name", "running" => "running", "threads" => "threads", "waiting" => "waiting",
               "queue limit" => "queue_limit", "served" => "served", "refused" => "refused" }.freeze
      private_constant :POOL, :PROCESS, :WORKER

      # Prints a summary, a table of the workers, and one of the further processes, or with `--json` the server's
      # report. Raises ConfigError and ControlError.
      def run
        refuse_arguments
        status = ask(:get, "/status")
        show("a status") do
          next json(with_compilers(status)) if @json

          [*summary(status).map { |line| Printable.text(line) }, "",
           *table(status.fetch("processes"), WORKER), *pools(status), *app_processes(status)]
        end
      end

      private

      def more_flags(parser)
        parser.on("--json", "Print the server's JSON, times in seconds") { @json = true }
      end

      # Adds to each worker what its compiler (YJIT or ZJIT) reports. The server asks the workers for it in the report
      # of memory; the value is nil for a worker that does not reply.
      def with_compilers(status)
        compilers = ask(:get, "/memory").fetch("processes").to_h { |row| [row["pid"], row.dig("figures", "jit")] }
        status.fetch("processes").each { |worker| worker["jit"] = compilers[worker["pid"]] }
        status
      end

      def summary(status)
        workers = status.fetch("workers")
        ["carat #{status.fetch("version")}, pid #{status.fetch("pid")}, #{status.fetch("state")}" \
         "#{time_left(status)}, up #{Units.seconds(status.fetch("uptime"))}",
         "listening on #{status.fetch("listeners").join(", ")}",
         "workers: #{workers.fetch("wanted")} wanted of #{workers.fetch("min")} to #{workers.fetch("max")}; " \
         "generation #{status.fetch("generation") || "none"}",
         *restart(status), *upgrade(status), *("refork: not possible: #{status["refork"]}" if status["refork"]),
         "requests: #{status.fetch("running")} running, #{status.fetch("waiting")} waiting of at most " \
         "#{status.fetch("queue_limit")}; #{Log::Counted.of(status.fetch("connections"), "connection")}",
         *Collections.line(status["collections"]), *Parts.flat_map { |part| part.status(status) }]
      end

      def time_left(status)
        seconds = status["draining_for"] || status["paused_for"]
        " for another #{Units.seconds(seconds)}" if seconds
      end

      def restart(status)
        "restart: #{status["restart"]}" if status["restart"]
      end

      def upgrade(status)
        "upgrade: #{status["upgrade"]}" if status["upgrade"]
      end

      def pools(status)
        rows = status.fetch("pools")
        rows.any? ? ["", *table(rows, POOL)] : []
      end

      def app_processes(status)
        rows = status.fetch("app_processes")
        counts = status.fetch("app_counts").flat_map { |it| app_count(it, rows) }.map { |line| Printable.text(line) }
        lines = [*counts, *(table(rows, PROCESS) if rows.any?)]
        lines.any? ? ["", *lines] : []
      end

      # The lines about one `process` of the config file: its number if that follows a load, and how many are missing.
      def app_count(count, rows)
        name, wanted, min, max, load = count.fetch_values("name", "wanted", "min", "max", "load")
        down = wanted - rows.count { |row| row.fetch("name") == name }
        [("process #{name}: #{wanted} wanted of #{min} to #{max}; load #{load&.round(2) || "not known"}" if min < max),
         ("process #{name}: #{wanted - down} of #{wanted} run" if down.positive?)].compact
      end

      def table(processes, columns)
        rows = processes.map { |process| columns.values.map { |name| cell(name, process.fetch(name)) } }
        Columns.lines([columns.keys, *rows])
      end

      def cell(name, value)
        case name
        when "age" then Units.seconds(value)
        when "private" then Units.mib(value).to_s
        else Printable.text(value.to_s)
        end
      end
    end
  end
end
