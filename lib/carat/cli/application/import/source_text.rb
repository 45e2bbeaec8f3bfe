# frozen_string_literal: true

module Carat
  module CLI
    class Import
      # The text of a Ruby file, by the places of the nodes of RubyVM::AbstractSyntaxTree: lines, and columns in bytes.
      class SourceText
        # `text` is a String.
        def initialize(text)
          @encoding = text.encoding
          @bytes = text.b
          @starts = [0]
          @bytes.each_line { |line| @starts << (@starts.last + line.bytesize) }
        end

        # Returns the offsets of a node, a Range without its end.
        def range(node)
          offset(node.first_lineno, node.first_column)...offset(node.last_lineno, node.last_column)
        end

        # Returns the source of a node.
        def of(node)
          slice(range(node))
        end

        # Returns the text at a Range of offsets.
        def slice(range)
          @bytes[range].force_encoding(@encoding)
        end

        # Returns the range of the whole lines that `range` is on, without the last line end.
        def lines(range)
          first = range.begin.zero? ? 0 : (@bytes.rindex("\n", range.begin - 1) || -1) + 1
          first...(@bytes.index("\n", [range.end - 1, 0].max) || @bytes.bytesize)
        end

        # Whether there is nothing else on the lines of `range` but a comment.
        def alone?(range)
          lines = lines(range)
          before = slice(lines.begin...range.begin)
          after = slice(range.end...lines.end)
          before.strip.empty? && after.match?(/\A\s*(#.*)?\z/)
        end

        # Whether `range` is alone on its lines, or has a condition behind it.
        def statement?(range)
          lines = lines(range)
          before = slice(lines.begin...range.begin)
          before.strip.empty? && slice(range.end...lines.end).match?(/\A\s*(#|if\b|unless\b|\z)/)
        end

        # Returns the text with other texts in place of ranges: `edits` is a Hash of Strings by Range.
        def replace(edits)
          result = @bytes.dup
          edits.sort_by { |range, _| [-range.begin, -range.end] }.each { |range, text| result[range] = text.b }
          result.force_encoding(@encoding)
        end

        private

        def offset(line, column)
          @starts[line - 1] + column
        end
      end
    end
  end
end
