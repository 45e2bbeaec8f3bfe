# frozen_string_literal: true

require_relative "../../lab/html/page"
require_relative "../../lab/html/tree_plot"
require_relative "../short_path"

module Carat
  module CLI
    class Profile
      # The profile as a page: the calls, from the outermost or turned around.
      class Page
        Node = Lab::Html::TreePlot::Node

        # By member of a call's weight: what the reader sees.
        MEASURES = { bytes: %w[allocated bytes], objects: ["allocated objects", "objects"],
                     live_bytes: ["still live", "bytes"], live_objects: ["live objects", "objects"] }
                   .transform_values { |name, unit| Lab::Html::TreePlot::Measure.new(name, unit) }.freeze
        NOTHING = [0, 0, 0, 0].freeze
        private_constant :Node, :MEASURES, :NOTHING

        # `tree` is the CallTree of a Lab::Profile::Report; `remarks` are sentences about it.
        def initialize(tree, title, remarks)
          @tree = tree
          @title = title
          @remarks = remarks
        end

        # Returns the HTML.
        def to_s
          lead, *others = @remarks
          page = Lab::Html::Page.new(@title, lead:, remarks: others)
          page.section("Calls", Lab::Html::TreePlot.new("Memory by call", MEASURES.values, { "calls" => root },
                                                        inverted: true))
          page.to_s
        end

        private

        # A call comes after the one that made it.
        def root
          root = Node.new("all", "", NOTHING, [])
          frames = @tree.frames.map { |frame| [label(frame), group(frame)] }
          nodes = []
          @tree.calls.each do |call|
            nodes << Node.new(*frames[call.frame], call.weight.to_h.values_at(*MEASURES.keys), [])
            (call.caller ? nodes[call.caller] : root).children << nodes.last
          end
          root
        end

        def label(frame)
          return frame.name unless frame.file
          return "#{frame.name} (#{File.basename(frame.file)})" unless frame.line

          "#{frame.name} #{ShortPath.of(frame.file)}:#{frame.line}"
        end

        # Calls of one library have one color.
        def group(frame)
          case frame.kind
          when "ruby" then frame.file ? ShortPath.of(frame.file)[%r{\A[^/.]+}].to_s : "ruby"
          when "c" then File.basename(frame.file.to_s)
          when "object" then "object"
          else ""
          end
        end
      end
    end
  end
end
