# frozen_string_literal: true

module Bench
  # One benchmark: which servers take part, how a round of one is measured, and the columns of its table.
  #
  # measure: a callable that takes a ServerSpec and the Options and returns a sample (a Hash of figures that JSON can
  # carry) or, when `variants` is a heading, a Hash of variant => sample. needs: a callable that says in one sentence
  # why the case cannot run here. busy: whether `--beside` applies. once: whether it has one round, whatever `--rounds`
  # says. further: a callable from all rows to more Tables.
  Case = Struct.new(:name, :title, :servers, :variants, :columns, :measure, :needs, :busy, :once, :further,
                    keyword_init: true) do
    def specs = Servers.named(servers)

    def obstacle = needs&.call

    # One round of one server: variant => sample.
    def sample(spec, options)
      found = measure.call(spec, options)
      variants ? found.transform_keys(&:to_s) : { nil => found }
    end

    # rounds: ServerSpec => list of what `sample` returned.
    def rows(rounds)
      names = rounds.values.flat_map { |list| list.first.keys }.uniq
      all = []
      names.product(rounds.to_a) do |variant, (spec, list)|
        samples = list.filter_map { |round| round[variant] }
        all << Row.new(spec: spec, variant: variant, samples: samples, rows: all) if samples.any?
      end
      all
    end

    # What each of Carat's rows misses of its targets, such as "carat-t5, x 5: of what is possible 0.60 (>= 0.9)".
    def misses(rows)
      rows.product(columns).filter_map do |row, column|
        miss = column.miss(row)
        "#{[row.spec.name, *row.variant].join(", ")}: #{miss}" if miss
      end
    end

    def table(rows)
      headings = ["server", *variants, *columns.map(&:heading)]
      cells = rows.map { |row| [row.spec.name, *row.variant, *columns.map { |column| column.cell(row) }] }
      [Table.new(headings, cells), *further&.call(rows)].join("\n")
    end
  end
end
