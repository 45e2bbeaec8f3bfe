# frozen_string_literal: true

require "json"
require "carat/config/sources/flags"
require_relative "../lab/processes/application_process"
require_relative "../lab/in_process/allocation_report"
require_relative "../lab/progress"
require_relative "allocations/page"
require_relative "allocations/text"
require_relative "flags/output_flags"
require_relative "flags/request_flags"
require "carat/cli/subcommand"

module Carat
  module CLI
    # `carat allocations`.
    class Allocations
      include Subcommand
      include OutputFlags
      include RequestFlags

      # What follows `Usage: carat` in the help.
      USAGE = "allocations [--path PATH ...] [--requests N] [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Counts what a request allocates, by gem and line."

      # Requests that are counted.
      REQUESTS = 101
      RANGE = 1..1_000_000
      private_constant :RANGE

      # Counts and prints the report. Raises ConfigError and LabError.
      def run
        program = [@requests.to_s, targets.size.to_s, *targets, *words]
        process = Lab::ApplicationProcess.new(configuration, "in_process/allocation_count",
                                              "InProcess::AllocationCount", program, Lab::Progress.new($stderr))
        report = Lab::InProcess::AllocationReport.new(process.run).to_h
        @html&.write(Page.new(report, title("allocations")))
        say(@json ? JSON.generate(report, ascii_only: true) : Text.new(report))
      end

      private

      def flags
        @requests = REQUESTS
        Config::Flags.new(help: "carat allocations --help") do |parser|
          parser.separator("Measurement:")
          define_path(parser)
          parser.on("--requests N", "Requests to count [#{REQUESTS}]") do |text|
            @requests = number("--requests", text, RANGE)
          end
          define_output(parser)
          parser.separator("")
        end
      end
    end
  end
end
