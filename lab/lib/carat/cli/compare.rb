# frozen_string_literal: true

require "json"
require "carat/config/config_error"
require "carat/config/sources/flags"
require "carat/config/options"
require_relative "../lab/compare/comparison"
require_relative "../lab/compare/limit"
require_relative "../lab/compare/setups/puma_program"
require_relative "../lab/load/generators/generator"
require_relative "../lab/progress"
require_relative "compare/choices"
require_relative "compare/page"
require_relative "compare/text"
require_relative "flags/measurement_flags"
require_relative "flags/output_flags"
require_relative "flags/request_flags"
require "carat/cli/subcommand"

module Carat
  module CLI
    # `carat compare`.
    class Compare
      include Subcommand
      include OutputFlags
      include RequestFlags

      # What follows `Usage: carat` in the help.
      USAGE = "compare [--threads A,B ...] [options] [A.rb B.rb] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Says in what two set-ups of an application differ beyond noise."

      # Without --seconds, --connections, and --budget.
      SECONDS = 2
      CONNECTIONS = 10
      BUDGET = 180
      BUDGETS = 1..Text::LONGEST
      ROUNDS = 1..1000
      RACKUP = /\.ru\z/
      private_constant :SECONDS, :CONNECTIONS, :BUDGET, :BUDGETS, :ROUNDS, :RACKUP

      # The exit status without a verdict.
      UNKNOWN = 2

      # Compares and prints the report. Raises ConfigError and LabError. The status is 0 for each verdict, and UNKNOWN
      # if there is none.
      def run
        choices = read_arguments
        generator = Lab::Load::Generator.find(@env.fetch("PATH", ""))
        if choices.any? { |choice| choice.server == Lab::Compare::PumaProgram::NAME }
          Lab::Compare::PumaProgram.check(@env.fetch("PATH", ""))
        end
        report = Lab::Compare::Comparison.new(choices, generator, @measurement.plan,
                                              Lab::Compare::Limit.new(@budget, @rounds),
                                              Lab::Progress.new($stderr)).call(@env).to_h
        @html&.write(Page.new(report, "carat compare"))
        say(@json ? JSON.generate(report, ascii_only: true) : Text.new(report))
        %w[equal different].include?(report["verdict"]) ? SUCCESS : UNKNOWN
      end

      private

      def flags
        @measurement = MeasurementFlags.new(seconds: SECONDS, connections: CONNECTIONS)
        @choices = Choices.new(@env)
        @budget = BUDGET
        common = Config::Options.from(:flag).reject { |option| Choices::OPTIONS.include?(option.name) }
        Config::Flags.new(options: common, help: "carat compare --help") do |parser|
          parser.separator("What differs:")
          @choices.define(parser)
          parser.separator("")
          parser.separator("Measurement:")
          define(parser)
          parser.separator("")
        end
      end

      def define(parser)
        @measurement.define(parser)
        parser.on("--budget SECONDS", "Seconds for all rounds [#{BUDGET}]") do |text|
          @budget = number("--budget", text, BUDGETS)
        end
        parser.on("--rounds N", "Rounds at most") do |text|
          @rounds = number("--rounds", text, ROUNDS)
        end
        define_output(parser)
      end

      # Rackup files end with .ru; the other arguments are the config files.
      def read_arguments
        rackups, configs = @arguments.partition { |argument| RACKUP.match?(argument) }
        raise Config::ConfigError, "#{rackups[1]}: one rackup file is enough" if rackups.size > 1
        unless [0, 2].include?(configs.size)
          raise Config::ConfigError, "#{configs.last}: name two config files, or none"
        end

        rackups.each { |path| @flags.set(Config::Options.fetch(:rackup), path, "carat") }
        @choices.config_files(configs) if configs.any?
        @choices.to_a(@flags.words)
      end
    end
  end
end
