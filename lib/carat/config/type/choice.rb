# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # One of a few words.
      class Choice
        METAVAR_WIDTH = 12
        private_constant :METAVAR_WIDTH

        def initialize(words)
          @words = words
        end

        # Reads one of the words, as String or Symbol; raises InvalidValue.
        def parse(value)
          return value.to_s if @words.include?(value.to_s)

          words = @words.join(", ")
          raise InvalidValue, "#{value.inspect} is not one of: #{words}"
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value
        end

        # Returns the placeholder for a value in the help; long words have no room there.
        def metavar
          words = @words.join("|")
          words.size <= METAVAR_WIDTH ? words : "WORD"
        end
      end
    end
  end
end
