# frozen_string_literal: true

module Bench
  # What is asked of a figure. In a table it stands beside the figure, with a mark when the figure misses it.
  Bound = Struct.new(:relation, :limit) do
    def self.at_most(limit)
      new("<=", limit)
    end

    def self.at_least(limit)
      new(">=", limit)
    end

    def self.below(limit)
      new("<", limit)
    end

    def met?(figure)
      figure.public_send(relation, limit)
    end

    # "0.41 (<= 1)" or "**1.72 (<= 1) missed**"; `text` is how the figure is written.
    def cell(figure, text)
      asked = "#{text} (#{relation} #{limit})"
      met?(figure) ? asked : "**#{asked} missed**"
    end
  end
end
