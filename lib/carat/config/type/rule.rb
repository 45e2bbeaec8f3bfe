# frozen_string_literal: true

module Carat
  module Config
    module Type
      # A type that is defined by a block, and that no `within` limits.
      class Rule
        # The placeholder for a value in the help; nil when the flag needs no value.
        attr_reader :metavar
        # The sentence of docs/options.md about the values, for a type that a part declares.
        attr_reader :doc

        # The block is the type's method `parse`, and `text`, if given, its method `text`. `name` and `doc` are for a
        # type that a part declares, and that is not in Type::NAMES.
        def initialize(metavar, text: nil, name: nil, doc: nil, &parse)
          @metavar = metavar
          @text = text
          @name = name
          @doc = doc
          @parse = parse
        end

        # Returns the value in the form that the program uses; raises InvalidValue.
        def parse(value)
          @parse.call(value)
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          @text ? @text.call(value) : value
        end

        # Returns the name of the type in docs/options.md.
        def to_s
          @name || super
        end
      end
    end
  end
end
