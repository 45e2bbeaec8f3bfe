# frozen_string_literal: true

require_relative "page"

module Carat
  module CLI
    class Top
      # The page on a terminal: two tables, one of which has the selection.
      class Tables
        # Where the selection goes.
        STEPS = { up: -1, down: 1, page_up: -10, page_down: 10 }.freeze
        # The fewest lines of a table: its heading and one row.
        LEAST = 2
        private_constant :LEAST, :STEPS

        # One table: what it shows, by which column it is sorted, and which row is selected.
        Shown = Struct.new(:columns, :sorted, :rows, :selected) do
          # Sorts the rows: the greatest first, texts from A to Z, and unknown values last.
          def sort
            name = columns.values[sorted]
            known, unknown = rows.partition { |row| row[name] }
            known = known.sort_by { |row| row[name] }
            known.reverse! unless known.first && known.first[name].is_a?(String)
            self.rows = known + unknown
            move(0)
          end

          # Selects another row, if there is one.
          def move(step)
            self.selected = (selected + step).clamp(0, [rows.size - 1, 0].max)
          end

          # The row that is selected, or nil.
          def row = rows[selected]
        end
        private_constant :Shown

        def initialize
          @processes = Shown.new(Page::PROCESSES, Page::PROCESSES.keys.index("private"), [], 0)
          @requests = Shown.new(Page::REQUESTS, 0, [], 0)
          @active = @requests
        end

        # Shows another Page.
        def receive(page)
          @page = page
          @processes.rows = page.processes
          @requests.rows = page.requests
          [@processes, @requests].each(&:sort)
        end

        # Moves the selection, or sorts.
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

        # Returns the number of the selected worker, or of the worker of the selected request; nil for none.
        def worker
          @active.equal?(@requests) ? @requests.row&.fetch("worker") : worker_number(@processes.row)
        end

        # Returns exactly `rows` lines: a String, or an Array of a String and true for bold type, false for inverse
        # video.
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

        # The rows around the selected one.
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
