# frozen_string_literal: true

require_relative "page"

module Carat
  module CLI
    class Top
      # The content of the page on a terminal: two tables, one of which has the selection.
      class Tables
        # The number of rows by which a key moves the selection.
        STEPS = { up: -1, down: 1, page_up: -10, page_down: 10 }.freeze
        # The fewest lines of a table: its heading and one row.
        LEAST = 2
        private_constant :LEAST, :STEPS

        # One table: its columns, the index of the column by which it is sorted, its rows, and the index of the selected
        # row.
        Shown = Struct.new(:columns, :sorted, :rows, :selected) do
          # Sorts the rows: numbers from the greatest to the smallest, texts from A to Z, and unknown values last.
          def sort
            name = columns.values[sorted]
            known, unknown = rows.partition { |row| row[name] }
            known = known.sort_by { |row| row[name] }
            known.reverse! unless known.first && known.first[name].is_a?(String)
            self.rows = known + unknown
            move(0)
          end

          # Moves the selection by `step` rows, as far as there are rows.
          def move(step)
            self.selected = (selected + step).clamp(0, [rows.size - 1, 0].max)
          end

          # The selected row, or nil.
          def row = rows[selected]
        end
        private_constant :Shown

        def initialize
          @processes = Shown.new(Page::PROCESSES, Page::PROCESSES.keys.index("private"), [], 0)
          @requests = Shown.new(Page::REQUESTS, 0, [], 0)
          @active = @requests
        end

        # Replaces the page, a Page.
        def receive(page)
          @page = page
          @processes.rows = page.processes
          @requests.rows = page.requests
          [@processes, @requests].each(&:sort)
        end

        # Moves the selection, or sorts the table, by the key.
        def obey(key)
          case key
          when :tab then @active = @active.equal?(@requests) ? @processes : @requests
          when "s" then sort_by_next
          when *STEPS.keys then @active.move(STEPS[key])
          end
        end

        # Returns the selected request, or nil.
        def request
          @requests.row if @active.equal?(@requests)
        end

        # Returns the number of the selected worker, or of the selected request's worker; nil without a selection.
        def worker
          @active.equal?(@requests) ? @requests.row&.fetch("worker") : worker_number(@processes.row)
        end

        # Returns exactly `rows` lines. A line is a String, or an Array of a String and true for bold type, false for
        # inverse video.
        def lines(rows)
          summary = @page.summary
          left = rows - summary.size - 2
          processes = (@processes.rows.size + 1).clamp(LEAST, [left / 2, LEAST].max)
          lines = [*summary, "", *table(@processes, processes), "", *table(@requests, [left - processes, LEAST].max)]
          lines.first(rows) + [""] * [rows - lines.size, 0].max
        end

        private

        def sort_by_next
          @active.sorted = (@active.sorted + 1) % @active.columns.size
          @active.sort
        end

        def worker_number(row)
          row["number"] if row && row["label"].start_with?("worker ") && row.key?("requests")
        end

        # The heading of a table and the rows around the selected one, `height` lines in all.
        def table(shown, height)
          heading, *rows = @page.table(shown.columns, shown.rows)
          first = [[shown.selected - (height / 2), shown.rows.size - height + 1].min, 0].max
          visible = rows[first, height - 1].each_with_index.map do |line, index|
            shown.equal?(@active) && first + index == shown.selected ? [line, false] : line
          end
          sorted = shown.columns.keys[shown.sorted]
          [["#{heading}   (by #{sorted})", true], *visible]
        end
      end
    end
  end
end
