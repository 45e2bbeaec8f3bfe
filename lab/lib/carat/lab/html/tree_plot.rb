# frozen_string_literal: true

require_relative "markup"

module Carat
  module Lab
    module Html
      # A tree as an icicle, in which a box is as wide as its share, and as a table whose rows open.
      class TreePlot
        # What is measured: a name, and a unit as in LinePlot.
        Measure = Struct.new(:name, :unit)

        # A box: `own` has its own number for each Measure, without those of its children. Boxes of one `group` have one
        # color. `note` may say more.
        Node = Struct.new(:label, :group, :own, :children, :note) do
          # Returns the Hash for the page.
          def data
            { "n" => Markup.utf8(label), "g" => Markup.utf8(group), "o" => own, "c" => children.map(&:data),
              **(note ? { "d" => Markup.utf8(note) } : {}) }
          end
        end

        # `views` is a Hash of root Nodes by name, of which the reader chooses one. `inverted` adds, for each, a view in
        # which the callers of a box are below it.
        def initialize(title, measures, views, inverted: false)
          @title = title
          @measures = measures
          @views = views
          @inverted = inverted
        end

        # Returns the HTML.
        def to_s
          <<~HTML
            <figure class="tree"><h3>#{Markup.text(@title)}</h3>
            #{Markup.data(data)}</figure>
          HTML
        end

        private

        def data
          { "title" => Markup.utf8(@title), "measures" => @measures.map(&:to_h), "inverted" => @inverted,
            "views" => @views.map { |name, root| { "name" => name, "root" => root.data } } }
        end
      end
    end
  end
end
