# frozen_string_literal: true

require "ripper"

module Carat
  module CLI
    class Import
      # The text of a Ruby file, by the positions of nodes of RubyVM::AbstractSyntaxTree: lines, and columns in bytes.
      class SourceText
        # The whole text, a String.
        attr_reader :text

        # `text` is a String.
        def initialize(text)
          @text = text
          @encoding = text.encoding
          @bytes = text.b
          @starts = [0]
          @bytes.each_line { |line| @starts << (@starts.last + line.bytesize) }
          @heredocs = heredocs(text)
        end

        # Returns the position of a node as a Range of byte offsets, without its end.
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

        # Returns the range of the whole lines on which `range` is, including its heredocs and without the last line
        # end.
        def lines(range)
          first = range.begin.zero? ? 0 : (@bytes.rindex("\n", range.begin - 1) || -1) + 1
          last = [range.end, *@heredocs.filter_map { |heredoc| heredoc.end if range.cover?(heredoc.begin) }].max
          first...(@bytes.index("\n", [last - 1, 0].max) || @bytes.bytesize)
        end

        # Whether the lines of `range` have nothing else on them but a comment.
        def alone?(range)
          before(range).strip.empty? && after(range).match?(/\A\s*(#.*)?\z/)
        end

        # Whether `range` has its lines to itself, perhaps with a condition behind it.
        def statement?(range)
          before(range).strip.empty? && after(range).match?(/\A\s*(#|if\b|unless\b|\z)/)
        end

        # Returns the text with replaced ranges. `edits` is a Hash of the new Strings by Range. An edit within the range
        # of another one is left out.
        def replace(edits)
          result = @bytes.dup
          edits = edits.reject { |range, _| edits.any? { |other, _| other != range && within?(range, other) } }
          edits.sort_by { |range, _| [-range.begin, -range.end] }.each { |range, text| result[range] = text.b }
          result.force_encoding(@encoding)
        end

        private

        def offset(line, column)
          @starts[line - 1] + column
        end

        # The text before `range` on its first line.
        def before(range)
          slice(lines(range).begin...range.begin)
        end

        def after(range)
          slice(range.end...(@bytes.index("\n", range.end) || @bytes.bytesize))
        end

        def within?(range, other)
          range.begin > other.begin && range.end <= other.end
        end

        # The ranges of heredocs, each from its opening mark to its end. A nested heredoc belongs to the range of the
        # outer one.
        def heredocs(text)
          depth = 0
          Ripper.lex(text).each_with_object([]) do |((line, column), type, token), ranges|
            case type
            when :on_heredoc_beg
              ranges << offset(line, column) if depth.zero?
              depth += 1
            when :on_heredoc_end
              depth -= 1
              ranges << (ranges.pop...(offset(line, column) + token.chomp.bytesize)) if depth.zero?
            end
          end
        end
      end
    end
  end
end
