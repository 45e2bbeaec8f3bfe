# frozen_string_literal: true

require_relative "line_plot"
require_relative "markup"

module Carat
  module Lab
    module Html
      # Measurements with their intervals, side by side: a point and a line through it for each.
      class IntervalPlot < LinePlot
        # A measurement, and the ends of its interval.
        Interval = Struct.new(:name, :middle, :low, :high)

        # A line ends before the next one begins.
        GAP = 0.5
        private_constant :GAP

        def initialize(title, unit:, intervals:, note: "")
          @names = intervals.map { |interval| Markup.utf8(interval.name) }
          xs = intervals.each_index.flat_map { |index| [index, index, index + GAP] }
          points = intervals.flat_map { |interval| [interval.middle, nil, nil] }
          ends = intervals.flat_map { |interval| [interval.low, interval.high, nil] }
          super(title, axis: "", xs:, unit:, note:,
                       series: [Series.new("measured", points, "points"), Series.new("interval", ends, "line")])
        end

        private

        def data
          { **super, "names" => @names }
        end
      end
    end
  end
end
