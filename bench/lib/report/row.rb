# frozen_string_literal: true

module Bench
  # One line of a table: the samples of a server and a variant of the case, one for each round.
  Row = Struct.new(:spec, :variant, :samples, :rows, keyword_init: true) do
    def values(figure) = samples.filter_map { |sample| sample[figure] }

    # The row of this server for the same variant; nil when the server takes no part.
    def of(name) = rows.find { |row| row.spec.name == name && row.variant == variant }

    # A figure that every round has alike.
    def [](figure) = samples.last[figure]
  end
end
