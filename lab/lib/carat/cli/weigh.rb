# frozen_string_literal: true

require "json"
require "carat/config/config_error"
require "carat/config/configuration"
require "carat/config/sources/flags"
require "carat/config/options"
require_relative "../lab/progress"
require_relative "../lab/weigh/measurement"
require_relative "../lab/weigh/report"
require_relative "flags/output_flags"
require_relative "flags/request_flags"
require "carat/cli/subcommand"
require_relative "weigh/page"
require_relative "weigh/text"

module Carat
  module CLI
    # `carat weigh`.
    class Weigh
      include RequestFlags
      include Subcommand
      include OutputFlags

      # What follows `Usage: carat` in the help.
      USAGE = "weigh [--cut MIB] [--html FILE] [options] [config.ru | Gemfile]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows what each loaded file and gem adds to the memory."

      # MiB below which a branch of the tree is left out.
      CUT = 0.3
      MIB = 1024 * 1024
      GEMFILE = /\A(Gemfile.*|gems\.rb)\z/
      private_constant :CUT, :MIB, :GEMFILE

      # Boots the application once and prints the report. Raises ConfigError and LabError.
      def run
        report = Lab::Weigh::Report.new(measurement.run)
        @html&.write(Page.new(report, "carat weigh #{@arguments.first}".strip))
        say(@json ? JSON.generate(report.to_h, ascii_only: true) : Text.new(report, @cut * MIB))
      end

      private

      def flags
        @cut = CUT
        @path = "/"
        Config::Flags.new(help: "carat weigh --help") do |parser|
          parser.separator("Report:")
          parser.on("--cut MIB", "Hide lighter branches of the tree [#{CUT}]") { |text| @cut = parse(text) }
          parser.on("--path PATH", "Request this after the fork [/]") { |text| @path = target(text) }
          define_output(parser)
          parser.separator("")
        end
      end

      def parse(text)
        Float(text).tap { |number| raise ArgumentError unless number.finite? && number >= 0 }
      rescue ArgumentError
        raise Config::ConfigError, "--cut: #{text.inspect} is not a number of 0 or more"
      end

      def measurement
        path = single_argument("rackup file or Gemfile")
        return of(configuration, "rackup", configuration[:rackup]) unless path && GEMFILE.match?(File.basename(path))
        raise Config::ConfigError, "#{path}: no such file" unless File.file?(path)

        of(Config::Configuration.new(@flags.settings, @env, only: Config::Options.map(&:name) - %i[rackup]),
           "gemfile", path)
      end

      def of(configuration, kind, target)
        Lab::Weigh::Measurement.new(configuration, kind, target, @path, @flags.words, Lab::Progress.new($stderr))
      end
    end
  end
end
