# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # A profile as lines of text, each with a stack and a number: what flamegraph.pl, inferno, and speedscope read.
      class Folded
        SEPARATORS = /[;\s]+/
        private_constant :SEPARATORS

        # `tree` is a CallTree, `measure` a member of its Weights.
        def initialize(tree, measure)
          @tree = tree
          @measure = measure
        end

        # Returns the lines.
        def to_s
          @tree.calls.filter_map do |call|
            number = call.weight[@measure]
            "#{stack(call).join(";")} #{number}" if number.positive?
          end.join("\n")
        end

        private

        # From the outermost function to the innermost.
        def stack(call)
          labels = []
          while call
            labels << label(@tree.frames[call.frame])
            call = call.caller && @tree.calls[call.caller]
          end
          labels.reverse
        end

        def label(frame)
          place = " (#{File.basename(frame.file)}#{":#{frame.line}" if frame.line})" if frame.file
          "#{frame.name}#{place}".gsub(SEPARATORS, " ")
        end
      end
    end
  end
end
