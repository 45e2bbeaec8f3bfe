# frozen_string_literal: true

require "json"
require "uri"
require "carat/config/config_error"
require "carat/config/sources/flags"
require "carat/config/options"
require_relative "../lab/load/carat_program"
require_relative "../lab/load/generators/generator"
require_relative "../lab/load/measurement"
require_relative "../lab/load/plan"
require_relative "../lab/progress"
require_relative "load/page"
require_relative "load/text"
require_relative "flags/measurement_flags"
require_relative "flags/output_flags"
require "carat/cli/subcommand"

module Carat
  module CLI
    # `carat load`.
    class Load
      include Subcommand
      include OutputFlags

      # What follows `Usage: carat` in the help.
      USAGE = "load [--path PATH] [--seconds N] [options] [URL | config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Loads a server with requests; shows latency, CPU, and memory."

      # Without --seconds and --connections.
      SECONDS = 10
      CONNECTIONS = 10
      SCHEME = %r{\A[a-z]+://}
      private_constant :SECONDS, :CONNECTIONS, :SCHEME

      # Measures and prints the report. Raises ConfigError and LabError.
      def run
        target = single_argument("URL or rackup file")
        report = (SCHEME.match?(target.to_s) ? of_url(target) : of_application).to_h
        @html&.write(Page.new(report, "carat load #{target}".strip))
        say(@json ? JSON.generate(report, ascii_only: true) : Text.new(report))
      end

      private

      def flags
        @measurement = MeasurementFlags.new(seconds: SECONDS, connections: CONNECTIONS)
        Config::Flags.new(help: "carat load --help") do |parser|
          parser.separator("Load:")
          @measurement.define(parser)
          define_output(parser)
          parser.separator("")
        end
      end

      def of_application
        workers = configuration.chosen?(:workers) ? {} : { workers: "1" }
        measurement.of_program(Lab::Load::CaratProgram.new(words, options: workers))
      end

      def of_url(text)
        refuse_options
        uri = parse(text)
        unless uri.request_uri == "/"
          raise Config::ConfigError, "--path: the URL has a path already" if @measurement.path

          @measurement.path = uri.request_uri
        end
        measurement.of_url("#{uri.scheme}://#{uri.host}:#{uri.port}")
      end

      def refuse_options
        name = @flags.words.first&.slice(/\A\w+/) or return

        raise Config::ConfigError, "#{Config::Options.fetch(name.to_sym).flag}: no server is started for a URL"
      end

      def parse(text)
        uri = URI(text)
        return uri if uri.is_a?(URI::HTTP) && uri.host && MeasurementFlags::PATH.match?(uri.request_uri)

        raise URI::InvalidURIError
      rescue URI::InvalidURIError
        raise Config::ConfigError, "#{text}: not a URL such as http://127.0.0.1:9292/"
      end

      def measurement
        Lab::Load::Measurement.new(Lab::Load::Generator.find(@env.fetch("PATH", "")), @measurement.plan,
                                   Lab::Progress.new($stderr))
      end
    end
  end
end
