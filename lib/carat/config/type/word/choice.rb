# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "as_written"

module Carat
  module Config
    module Type
      # One of a few words.
      class Choice
        include AsWritten

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

        # Returns the placeholder for a value in the help; long words have no room there.
        def metavar
          words = @words.join("|")
          words.size <= METAVAR_WIDTH ? words : "WORD"
        end
      end
    end
  end
end
