# frozen_string_literal: true

require_relative "../../lab/profile/report"
require_relative "../../lab/profile/time_report"
require_relative "text"
require_relative "time_text"

module Carat
  module CLI
    class Profile
      # What is sampled: memory, or time by one or more clocks. `order` has the words for the server.
      Kind = Struct.new(:order, :report_class) do
        # Returns that of memory: a sample stands for so many bytes, or nil.
        def self.of_memory(bytes)
          new({ interval: bytes }, Lab::Profile::Report)
        end

        # Returns that of clocks, by their names: a sample stands for so many milliseconds, or nil.
        def self.of_time(clocks, milliseconds)
          bits = clocks.sum { |clock| CLOCKS.fetch(clock) }
          new({ interval: milliseconds && (milliseconds * 1000).to_i, clocks: bits }, Lab::Profile::TimeReport)
        end

        # Returns the class of texts about a Report.
        def self.text(report)
          report.is_a?(Lab::Profile::TimeReport) ? TimeText : Text
        end

        # Returns a Report of what the server says.
        def report(...)
          report_class.new(...)
        end
      end

      # Clocks as the bits that the worker knows.
      CLOCKS = { cpu: 1, wall: 2, gvl: 4 }.freeze
      private_constant :CLOCKS
    end
  end
end
