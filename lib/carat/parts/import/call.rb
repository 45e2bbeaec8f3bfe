# frozen_string_literal: true

module Carat
  module CLI
    class Import
      # The translation of a call of Puma's configuration. `code` is Ruby for carat.rb, or nil when there is no
      # counterpart. `note` tells a reader what is different, and is nil when the code does the same.
      Translation = Struct.new(:code, :note)

      # A call of one of Puma's methods in a configuration: `threads ENV.fetch("THREADS", 5), 5`.
      class Call
        # The types of nodes that are calls. The number is the index of the name among the node's children; the
        # arguments follow the name.
        TYPES = { FCALL: 0, VCALL: 0, CALL: 1 }.freeze
        PARAMETERS = /\A\s*(do|\{)\s*\|/
        private_constant :PARAMETERS, :TYPES

        class << self
          # Returns the Call at `node`, of RubyVM::AbstractSyntaxTree, if it calls one of `names`, or nil. `source` is a
          # SourceText.
          def at(node, source, names)
            head = head(node)
            name = name(head)
            new(node, head, source) if name && names.include?(name)
          end

          # Returns the name of the method that `node` calls, without a receiver or on `self`; nil for any other node.
          def name(node)
            place = TYPES[node.type] or return
            node.children[place] if place.zero? || node.children.first&.type == :SELF
          end

          # Returns how many calls of `names` are in `node`.
          def count(node, names)
            return 0 unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

            itself = names.include?(name(node)) ? 1 : 0
            itself + node.children.sum { |child| count(child, names) }
          end

          private

          def head(node)
            node.type == :ITER ? node.children.first : node
          end
        end

        # The name of the method, a Symbol.
        attr_reader :name

        # The source of each argument; nil when a splat or `&block` hides how many there are.
        attr_reader :arguments

        # The range of the whole call in the text, and the range of the part before its block.
        attr_reader :range, :head

        # `node` is the whole call, and `head` its part before the block.
        def initialize(node, head, source)
          @node = node
          @source = source
          @range = source.range(node)
          @head = source.range(head)
          @name, list = head.children.drop(TYPES.fetch(head.type))
          @arguments = read(list)
        end

        # Whether the call has a block `do ... end` or `{ ... }`.
        def block?
          @head != @range
        end

        # Whether the block takes parameters.
        def parameters?
          @source.slice(@head.end...@range.end).match?(PARAMETERS)
        end

        # Returns the source of the whole call.
        def text
          @source.slice(@range)
        end

        # Returns the argument at `index` if it is a number, or nil.
        def number(index)
          text = @arguments&.at(index)
          text.delete("_\"'").to_i if text&.match?(/\A(["']?)\d[\d_]*\1\z/)
        end

        # Returns the text of the argument at `index` if it is a String without interpolation, or nil.
        def string(index)
          node = @nodes&.at(index)
          node.children.first if node&.type == :STR
        end

        # Returns the pairs of the Hash that is the argument at `index`, by name. A pair is the value as text (nil
        # unless it is a String) and the source of the value. Returns no pairs without such an argument, and nil
        # when the argument is no Hash.
        def pairs(index)
          node = @nodes&.at(index) or return {}
          return unless node.type == :HASH

          list = node.children.first&.children.to_a
          list[...-1].each_slice(2).to_h do |name, value|
            return nil unless name

            [@source.of(name).delete(":\"'"), [(value.children.first if value.type == :STR), @source.of(value)]]
          end
        end

        private

        def read(list)
          return [] if list.nil?
          return unless list.type == :LIST

          @nodes = list.children.compact
          @nodes.map { |node| @source.of(node) }
        end
      end
    end
  end
end
