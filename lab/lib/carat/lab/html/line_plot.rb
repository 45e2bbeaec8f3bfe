# frozen_string_literal: true

require_relative "markup"

module Carat
  module Lab
    module Html
      # Lines over one axis. The table with the same numbers stands beside it.
      class LinePlot
        # One line: `numbers` are Numeric or nil, one for each x; `style` is "points", "line", or "edge", that of an
        # interval.
        Series = Struct.new(:name, :numbers, :style) do
          # Returns the Hash for the page.
          def data
            { "name" => Markup.utf8(name), "values" => numbers, "style" => style }
          end
        end

        # `unit` is that of the values, one of those in format.js: "bytes", "seconds", or a word such as "objects".
        # `axis` is the name of the xs, and `note` the sentence below the plot. With `tail`, the xs are percentiles, and
        # both axes logarithmic: 90, 99, and 99.9 % are equally far from one another.
        def initialize(title, axis:, xs:, unit:, series:, note: "", tail: false)
          @title = title
          @axis = axis
          @xs = xs
          @unit = unit
          @series = series
          @note = note
          @tail = tail
        end

        # Returns the HTML.
        def to_s
          <<~HTML
            <figure class="lines"><h3>#{Markup.text(@title)}</h3><div class="plot"></div>
            <output aria-live="polite"></output><figcaption>#{Markup.text(@note)}</figcaption>
            #{Markup.data(data)}</figure>
          HTML
        end

        private

        def data
          { "title" => Markup.utf8(@title), "axis" => @axis, "xs" => @xs, "unit" => @unit, "tail" => @tail,
            "series" => @series.map(&:data) }
        end
      end
    end
  end
end
