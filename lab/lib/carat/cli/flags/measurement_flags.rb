# frozen_string_literal: true

require_relative "../../lab/load/plan"
require_relative "request_flags"

module Carat
  module CLI
    # The flags of a load: what is requested, how long, and over how many connections.
    class MeasurementFlags
      include RequestFlags

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
        parser.on("--path PATH", "The path to request [/]") { |text| @path = target(text) }
        parser.on("--seconds N", "Seconds of a load [#{@seconds}]") do |text|
          @seconds = number("--seconds", text, SECONDS)
        end
        parser.on("--connections N", "Connections at once [#{@connections}]") do |text|
          @connections = number("--connections", text, CONNECTIONS)
        end
      end

      # Returns the Plan.
      def plan
        Lab::Load::Plan.new(path: path || "/", seconds: @seconds, connections: @connections)
      end
    end
  end
end
