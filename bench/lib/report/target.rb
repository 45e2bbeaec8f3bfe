# frozen_string_literal: true

module Bench
  # What a figure should reach. A table shows it beside the figure and marks a figure that misses it.
  Target = Struct.new(:relation, :limit) do
    def self.at_most(limit) = new("<=", limit)
    def self.at_least(limit) = new(">=", limit)
    def self.below(limit) = new("<", limit)

    def met?(figure) = figure.public_send(relation, limit)

    def to_s = "#{relation} #{limit}"

    # "0.41 (<= 1)" or "**1.72 (<= 1) missed**".
    def cell(figure, text)
      shown = "#{text} (#{self})"
      met?(figure) ? shown : "**#{shown} missed**"
    end
  end
end
