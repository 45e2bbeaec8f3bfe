# frozen_string_literal: true

module Carat
  module Config
    module Type
      # A type whose values no `within` limits.
      class Rule
        # The placeholder for a value in the help; nil for one that a flag does not need.
        attr_reader :metavar

        # The block is `parse` of the type; `text`, if given, is its method `text`.
        def initialize(metavar, text: nil, &parse)
          @metavar = metavar
          @text = text
          @parse = parse
        end

        # Returns the value in the form that the program uses; raises InvalidValue.
        def parse(value)
          @parse.call(value)
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          @text ? @text.call(value) : value
        end
      end
    end
  end
end
