# frozen_string_literal: true

require_relative "../../config_error"
require_relative "../rule"

module Carat
  module Config
    module Type
      # One word of a list.
      class Choice < Rule
        METAVAR_WIDTH = 12
        private_constant :METAVAR_WIDTH

        # `words` are valid as Strings and Symbols. The help shows the list only if it is short.
        def initialize(words)
          metavar = words.join("|")
          super(metavar.size <= METAVAR_WIDTH ? metavar : "WORD") do |value|
            next value.to_s if words.include?(value.to_s)

            raise InvalidValue, "#{value.inspect} is not one of: #{words.join(", ")}"
          end
        end
      end
    end
  end
end
