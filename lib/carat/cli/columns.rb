# frozen_string_literal: true

module Carat
  module CLI
    # Tables of text.
    module Columns
      module_function

      # Returns the lines of `rows`, Arrays of Strings. Columns are aligned right, except those in `left` (indexes).
      def lines(rows, left: [])
        widths = rows.transpose.map { |column| column.map(&:length).max }
        rows.map do |row|
          row.zip(widths).map.with_index do |(cell, width), index|
            left.include?(index) ? cell.ljust(width) : cell.rjust(width)
          end.join("  ").rstrip
        end
      end
    end
  end
end
