# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "as_written"

module Carat
  module Config
    module Type
      # Text that is not blank.
      class Text
        include AsWritten

        # Reads a String or Symbol; raises InvalidValue.
        def parse(value)
          return value.to_s if (value.is_a?(String) || value.is_a?(Symbol)) && value.match?(/\S/)

          raise InvalidValue, "#{value.inspect} is not a name"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "NAME"
        end
      end
    end
  end
end
