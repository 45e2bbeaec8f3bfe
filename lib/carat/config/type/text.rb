# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # A name: text that is not blank.
      class Text
        # Reads a String or Symbol; raises InvalidValue.
        def parse(value)
          return value.to_s if (value.is_a?(String) || value.is_a?(Symbol)) && value.match?(/\S/)

          raise InvalidValue, "#{value.inspect} is not a name"
        end

        def text(value)
          value
        end

        def metavar
          "NAME"
        end
      end
    end
  end
end
