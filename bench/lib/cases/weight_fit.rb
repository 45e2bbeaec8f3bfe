# frozen_string_literal: true

module Bench
  # The further tables of Weight: what each further worker adds, and what a worker's own memory consists of.
  class WeightFit
    BASE = "puma"
    # Its application keeps nothing.
    BARE = "carat-bare"
    SLOPE = Target.at_most(0.25)
    FIT_HEADINGS = ["server", "after boot: a MB", "b MB a worker", "after the load: a MB", "b MB a worker",
                    "b beyond a bare worker MB", "b x #{BASE}"].freeze
    ORIGIN_HEADINGS = ["server", "workers", "no longer shared MB", "new MB", "of files MB"].freeze

    # rows: of the case's table.
    def initialize(rows)
      @series = rows.group_by { |row| row.spec.name.delete_suffix("-w#{row.spec.workers}") }
    end

    def tables
      [[FIT_HEADINGS, fits], [ORIGIN_HEADINGS, origins]].filter_map do |headings, cells|
        Table.new(headings, cells) if cells.any?
      end
    end

    private

    # A line takes two points.
    def fits
      lines = @series.select { |_, rows| rows.size > 1 }
      slopes = lines.transform_values { |rows| line(rows, :loaded_mb).last }
      lines.map do |name, rows|
        figures = %i[boot_mb loaded_mb].flat_map { |time| line(rows, time) }
        [name, *figures.map { |mb| Number.decimals(mb, 1) }, beyond_bare(slopes[name]),
         compared(rows.first, slopes[name], slopes[BASE], first: name == lines.keys.first)]
      end
    end

    def line(rows, time)
      Statistics.line(rows.map { |row| [row.spec.workers, median(row, time)] })
    end

    # What a worker adds, less the private memory of a worker whose application keeps nothing.
    def beyond_bare(slope)
      row = @series[BARE]&.max_by { |one| one.spec.workers }
      row ? Number.decimals(slope - median(row, :loaded_private_mb), 1) : Number::NONE
    end

    # The target is for the first line: Carat with its defaults.
    def compared(row, slope, base, first:)
      return Number::NONE unless base

      text = Number.decimals(slope / base, 2)
      first && row.spec.carat? ? SLOPE.cell(slope / base, text) : text
    end

    # For the largest number of workers.
    def origins
      largest = @series.values.map { |rows| rows.max_by { |row| row.spec.workers } }
      largest.reject { |row| row.values(:written_mb).empty? }.map do |row|
        [row.spec.name, row.spec.workers,
         *%i[written_mb added_mb files_mb].map { |part| Number.decimals(median(row, part), 1) }]
      end
    end

    def median(row, figure) = Statistics.median(row.values(figure))
  end
end
