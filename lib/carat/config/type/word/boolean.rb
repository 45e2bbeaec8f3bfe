# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # True or false.
      class Boolean
        WORDS = {
          "true" => true, "yes" => true, "on" => true, "1" => true,
          "false" => false, "no" => false, "off" => false, "0" => false
        }.freeze
        private_constant :WORDS

        # Reads true, false, or one of WORDS in any case; raises InvalidValue.
        def parse(value)
          WORDS.fetch(value.to_s.downcase) { raise InvalidValue, "#{value.inspect} is not true or false" }
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value.to_s
        end

        # Returns the placeholder for a value in the help.
        def metavar
          nil
        end
      end
    end
  end
end
