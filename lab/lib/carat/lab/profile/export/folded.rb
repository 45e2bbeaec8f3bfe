# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # A profile as lines of text, each with a stack and a number: what flamegraph.pl, inferno, and speedscope read.
      class Folded
        SEPARATORS = /[;\s]+/
        private_constant :SEPARATORS

        # `series` is a Series.
        def initialize(series)
          @series = series
        end

        # Returns the lines.
        def to_s
          frames = @series.tree.frames.map { |frame| label(frame) }
          lines = []
          @series.each_weight do |call, number|
            lines << "#{frames.values_at(*@series.stack(call)).join(";")} #{number}"
          end
          lines.join("\n")
        end

        private

        def label(frame)
          place = " (#{File.basename(frame.file)}#{":#{frame.line}" if frame.line})" if frame.file
          "#{frame.name}#{place}".gsub(SEPARATORS, " ")
        end
      end
    end
  end
end
