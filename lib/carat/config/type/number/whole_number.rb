# frozen_string_literal: true

require_relative "../../config_error"

module Carat
  module Config
    module Type
      # A whole number within a range; the range may be endless.
      class WholeNumber
        def initialize(range = (0..))
          @range = range
        end

        # Reads an Integer or its decimal digits; raises InvalidValue.
        def parse(value)
          number = value.is_a?(Integer) ? value : Integer(value.to_s, 10, exception: false)
          return number if number && @range.cover?(number)

          raise InvalidValue, "#{value.inspect} is not a whole number #{bounds}"
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          value.to_s
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "N"
        end

        private

        def bounds
          @range.end ? "from #{@range.begin} to #{@range.end}" : "of #{@range.begin} or more"
        end
      end
    end
  end
end
