# frozen_string_literal: true

require_relative "markup"

module Carat
  module Lab
    module Html
      # A table of a page. The first cell of a row names the row.
      class Table
        # `columns` are names; those of `texts` are aligned left, those of numbers right. `rows` are Arrays of Strings;
        # a cell may be an Array of lines. The last `sums` rows stay visible where the others scroll.
        def initialize(caption, columns, rows, texts: [columns.first], sums: 0)
          @caption = caption
          @columns = columns
          @rows = rows.take(rows.size - sums)
          @sums = rows.last(sums)
          @texts = texts
        end

        # Returns the HTML.
        def to_s
          <<~HTML
            <div class="scroll" tabindex="0" role="region" aria-label="#{Markup.text(@caption)}">
            <table><caption>#{Markup.text(@caption)}</caption>
            <thead><tr>#{heads}</tr></thead>
            <tbody>#{lines(@rows)}</tbody>#{"<tfoot>#{lines(@sums)}</tfoot>" if @sums.any?}</table></div>
          HTML
        end

        private

        def heads
          @columns.map { |name| "<th scope=\"col\"#{side(name)}>#{Markup.text(name)}</th>" }.join
        end

        def lines(rows)
          rows.map { |row| "<tr>#{cells(row)}</tr>\n" }.join
        end

        def cells(row)
          row.each_with_index.map do |cell, index|
            lines = Array(cell).map { |line| Markup.text(line) }.join("<br>")
            tag, scope = index.zero? ? ["th", " scope=\"row\""] : ["td", ""]
            "<#{tag}#{scope}#{side(@columns[index])}>#{lines}</#{tag}>"
          end.join
        end

        def side(name)
          " class=\"text\"" if @texts.include?(name)
        end
      end
    end
  end
end
