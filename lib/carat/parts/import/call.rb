# frozen_string_literal: true

module Carat
  module CLI
    class Import
      # What becomes of a call: `code` is Ruby for carat.rb, nil when there is no counterpart; `note` says what a reader
      # has to know, nil when the code does the same.
      Translation = Struct.new(:code, :note)

      # A call of one of Puma's methods in a configuration: `threads ENV.fetch("THREADS", 5), 5`.
      class Call
        # The types of call nodes, each with the index of the name, which the arguments follow.
        TYPES = { FCALL: 0, VCALL: 0, CALL: 1 }.freeze
        PARAMETERS = /\A\s*(do|\{)\s*\|/
        private_constant :PARAMETERS, :TYPES

        class << self
          # Returns the call of one of `names` at `node` of RubyVM::AbstractSyntaxTree, or nil. `source` is a
          # SourceText.
          def at(node, source, names)
            head = head(node)
            name = name(head)
            new(node, head, source) if name && names.include?(name)
          end

          # Returns the name of the method that `node` calls on the file's own self, or nil.
          def name(node)
            place = TYPES[node.type] or return
            node.children[place] if place.zero? || node.children.first&.type == :SELF
          end

          # Returns how many calls of `names` there are in `node`.
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

        # The source of each argument; nil when a splat or `&block` hides their number.
        attr_reader :arguments

        # The offsets of the whole call, and those of the part before its block.
        attr_reader :range, :head

        # `head` is `node` without its block.
        def initialize(node, head, source)
          @node = node
          @source = source
          @range = source.range(node)
          @head = source.range(head)
          @name, list = head.children.drop(TYPES.fetch(head.type))
          @arguments = read(list)
        end

        # Whether there is a block `do ... end` or `{ ... }`.
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

        # Returns the pairs of the Hash at `index` by name, each as the text of the value, nil unless that is a
        # String, and its source. Returns no pairs without such an argument, and nil when it is not a Hash.
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
