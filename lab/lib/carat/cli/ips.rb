# frozen_string_literal: true

require "json"
require "carat/config/sources/flags"
require_relative "../lab/processes/application_process"
require_relative "../lab/in_process/iteration_report"
require_relative "../lab/progress"
require_relative "ips/page"
require_relative "ips/text"
require_relative "flags/output_flags"
require_relative "flags/request_flags"
require "carat/cli/subcommand"

module Carat
  module CLI
    # `carat ips`.
    class Ips
      include Subcommand
      include OutputFlags
      include RequestFlags

      # What follows `Usage: carat` in the help.
      USAGE = "ips [--path PATH ...] [--seconds N] [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Measures iterations a second of endpoints in process."

      # Seconds for each path.
      SECONDS = 5
      RANGE = 1..3600
      private_constant :RANGE

      # Measures and prints the report. Raises ConfigError and LabError.
      def run
        program = [@seconds.to_s, targets.size.to_s, *targets, *words]
        process = Lab::ApplicationProcess.new(configuration, "in_process/iteration_count", "InProcess::IterationCount",
                                              program, Lab::Progress.new($stderr))
        report = Lab::InProcess::IterationReport.new(process.run).to_h
        @html&.write(Page.new(report, title("ips")))
        say(@json ? JSON.generate(report, ascii_only: true) : Text.new(report))
      end

      private

      def flags
        @seconds = SECONDS
        Config::Flags.new(help: "carat ips --help") do |parser|
          parser.separator("Measurement:")
          define_path(parser)
          parser.on("--seconds N", "Seconds for each path [#{SECONDS}]") do |text|
            @seconds = number("--seconds", text, RANGE)
          end
          define_output(parser)
          parser.separator("")
        end
      end
    end
  end
end
