# frozen_string_literal: true

require "carat/config/config_error"
require_relative "../../lab/load/plan"

module Carat
  module CLI
    # The flags of a load: what is requested, how long, and over how many connections.
    class MeasurementFlags
      # What `--path` takes.
      PATH = %r{\A/[!-~]*\z}
      SECONDS = 1..86_400
      CONNECTIONS = 1..10_000
      private_constant :SECONDS, :CONNECTIONS

      # The value of `--path`, or nil.
      attr_accessor :path

      # `seconds` and `connections` are the defaults.
      def initialize(seconds:, connections:)
        @seconds = seconds
        @connections = connections
      end

      # Defines the flags on an OptionParser.
      def define(parser)
        parser.on("--path PATH", "The path to request [/]") { |text| @path = parse_path(text) }
        parser.on("--seconds N", "Seconds of a load [#{@seconds}]") do |text|
          @seconds = self.class.number("--seconds", text, SECONDS)
        end
        parser.on("--connections N", "Connections at once [#{@connections}]") do |text|
          @connections = self.class.number("--connections", text, CONNECTIONS)
        end
      end

      # Returns the Plan.
      def plan
        Lab::Load::Plan.new(path: path || "/", seconds: @seconds, connections: @connections)
      end

      # Returns the number in `text`. Raises ConfigError.
      def self.number(flag, text, range)
        number = Integer(text, 10, exception: false)
        return number if number && range.cover?(number)

        raise Config::ConfigError, "#{flag}: #{text.inspect} is not a number from #{range.begin} to #{range.end}"
      end

      private

      def parse_path(text)
        return text if PATH.match?(text)

        raise Config::ConfigError, "--path: #{text.inspect} is not a path that begins with / and is percent-encoded"
      end
    end
  end
end
