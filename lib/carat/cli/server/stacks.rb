# frozen_string_literal: true

require_relative "../../log/counted"
require_relative "../control/control_command"
require_relative "../printable"

module Carat
  module CLI
    # `carat stacks`.
    class Stacks
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "stacks [--pid PID | --control-socket PATH] [--json]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows where each running request stands."

      # The most calls that are printed for a request. The server's JSON may have more.
      CALLS = 25
      private_constant :CALLS

      # Prints a paragraph for each request, the oldest first, or with `--json` the server's report. Raises ConfigError
      # and ControlError.
      def run
        refuse_arguments
        report = ask(:get, "/stacks")
        show("a report of stacks") do
          next json(report) if @json

          requests = report.fetch("requests").map { |request| paragraph(request).join("\n") }
          [*requests.flat_map { |request| [request, ""] }, total(report)]
        end
      end

      private

      def more_flags(parser)
        parser.on("--json", "Print the server's JSON, times in seconds") { @json = true }
      end

      def paragraph(request)
        calls = request.fetch("stack").lines(chomp: true)
        more = calls.size - CALLS
        [heading(request), "  waits for: #{Printable.text(request.fetch("waits_for"))}",
         *calls.first(CALLS).map { |call| "  #{Printable.text(call)}" },
         *("  ... and #{Log::Counted.of(more, "further call")}" if more.positive?)]
      end

      def heading(request)
        what = Printable.text(request.fetch("request"))
        "worker #{request.fetch("worker")}, lane #{request.fetch("lane")}: #{what}#{" " unless what.empty?}" \
          "#{request.fetch("stage")} for #{format("%.3f", request.fetch("age"))} s"
      end

      def total(report)
        omitted = report.fetch("omitted")
        "#{Log::Counted.of(report.fetch("requests").size + omitted, "request")} running" \
          "#{", of which #{omitted} are not shown" if omitted.positive?}"
      end
    end
  end
end
