# frozen_string_literal: true

require "json"
require "carat/config/sources/flags"
require_relative "../lab/leak/plan"
require_relative "../lab/leak/study"
require_relative "../lab/progress"
require_relative "leak/page"
require_relative "leak/text"
require_relative "flags/output_flags"
require_relative "flags/request_flags"
require "carat/cli/subcommand"

module Carat
  module CLI
    # `carat leak`.
    class Leak
      include Subcommand
      include OutputFlags
      include RequestFlags

      # What follows `Usage: carat` in the help.
      USAGE = "leak [--path PATH ...] [--rounds N] [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Says whether the application leaks memory, and where."

      # Each half of a run needs five points for an interval.
      ROUNDS = 8..1000
      REQUESTS = 1..10_000_000
      private_constant :ROUNDS, :REQUESTS

      # Measures and prints the report. Raises ConfigError and LabError. The status is 0 whatever the verdict is.
      def run
        plan = Lab::Leak::Plan.new(requests: @requests, rounds: @rounds)
        report = Lab::Leak::Study.new(words, targets, plan, Lab::Progress.new($stderr)).call
        @html&.write(Page.new(report, title("leak")))
        say(@json ? JSON.generate(report.to_h, ascii_only: true) : Text.new(report))
      end

      private

      def flags
        @rounds = Lab::Leak::Plan::ROUNDS
        Config::Flags.new(help: "carat leak --help") { |parser| define(parser) }
      end

      def define(parser)
        parser.separator("Measurement:")
        define_path(parser)
        parser.on("--requests N", "Requests of a round [a prime up to #{Lab::Leak::Plan::REQUESTS}]") do |text|
          @requests = number("--requests", text, REQUESTS)
        end
        parser.on("--rounds N", "Rounds of a run [#{Lab::Leak::Plan::ROUNDS}]") do |text|
          @rounds = number("--rounds", text, ROUNDS)
        end
        define_output(parser)
        parser.separator("")
      end
    end
  end
end
