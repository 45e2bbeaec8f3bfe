# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # A mask of mode bits: octal digits, or an Integer in the config file.
      class Umask
        BITS = 0o777
        private_constant :BITS

        # Returns an Integer; raises InvalidValue.
        def parse(value)
          mask = value.is_a?(String) && value.match?(/\A[0-7]{1,4}\z/) ? Integer(value, 8) : value
          return mask if mask.is_a?(Integer) && (0..BITS).cover?(mask)

          raise InvalidValue, "#{value.inspect} is not an octal mask such as 027"
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          format("%04o", value)
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "MASK"
        end
      end
    end
  end
end
