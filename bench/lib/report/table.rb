# frozen_string_literal: true

module Bench
  # A Markdown table: the first column is text, the others are figures.
  class Table
    def initialize(headings, rows = [])
      @headings = headings
      @rows = rows
    end

    def to_s
      widths = [@headings, *@rows].transpose.map { |column| column.map { |cell| cell.to_s.length }.max }
      rule = widths.each_with_index.map { |width, index| index.zero? ? "-" * width : "#{"-" * (width - 1)}:" }
      [@headings, rule, *@rows].map { |row| line(row, widths) }.join
    end

    private

    def line(row, widths)
      cells = row.zip(widths).each_with_index.map do |(cell, width), index|
        index.zero? ? cell.to_s.ljust(width) : cell.to_s.rjust(width)
      end
      "| #{cells.join(" | ")} |\n"
    end
  end
end
