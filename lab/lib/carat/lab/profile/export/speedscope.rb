# frozen_string_literal: true

require "json"
require "carat/version"

module Carat
  module Lab
    module Profile
      # Profiles as a file of https://www.speedscope.app: one for each Series.
      class Speedscope
        SCHEMA = "https://www.speedscope.app/file-format-schema.json"
        UNITS = { "count" => "none" }.freeze
        private_constant :SCHEMA, :UNITS

        # `series` are Series, `title` names what was profiled.
        def initialize(series, title)
          @series = series
          @title = title
        end

        # Returns the JSON.
        def to_s
          trees = @series.map(&:tree).uniq(&:object_id)
          JSON.generate({ "$schema": SCHEMA, name: @title, exporter: "carat-lab@#{VERSION}", activeProfileIndex: 0,
                          shared: { frames: trees.flat_map { |tree| tree.frames.map { |frame| describe(frame) } } },
                          profiles: @series.map { |series| profile(series, first_frame(trees, series.tree)) } },
                        ascii_only: true)
        end

        private

        # The frames of all trees follow one another.
        def first_frame(trees, tree)
          trees.take_while { |other| !other.equal?(tree) }.sum { |other| other.frames.size }
        end

        def describe(frame)
          { name: frame.name, file: frame.file, line: frame.line }.compact
        end

        def profile(series, first)
          samples = []
          weights = []
          series.each_weight do |call, number|
            samples << series.stack(call).map { |frame| first + frame }
            weights << number
          end
          { type: "sampled", name: series.name, unit: UNITS.fetch(series.unit, series.unit), startValue: 0,
            endValue: weights.sum, samples:, weights: }
        end
      end
    end
  end
end
