# frozen_string_literal: true

require_relative "figure"

module Bench
  # A column that says how a figure of each server stands to that of one of them. base: its name; figure: :rate, :pss or
  # :p99; bound: what is asked of Carat, or nil.
  Comparison = Struct.new(:base, :figure, :bound, keyword_init: true) do
    def heading
      figure == :rate ? "x #{base}" : "#{figure.to_s.upcase} x #{base}"
    end

    # figures: the name of each Peer => its Series; judged: whether the bound is asked of this one.
    def cell(peer, figures, judged: true)
      return Figure::NONE unless figures.key?(base)

      ratio = figures.fetch(peer.name).ratio(figures.fetch(base))
      text = Figure.decimals(ratio, 2)
      bound && judged ? peer.judged(bound, ratio, text) : text
    end
  end
end
