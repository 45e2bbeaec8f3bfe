# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # Request targets, such as `/login?next=%2F`; the list may be empty.
      class TargetList
        PATTERN = %r{\A/[!-~]*\z}
        private_constant :PATTERN

        # Reads one target or an Array of them and returns an Array of Strings; raises InvalidValue.
        def parse(value)
          Array(value).map do |target|
            raise InvalidValue, "#{target.inspect} is not a path such as /login" unless PATTERN.match?(target.to_s)

            target.to_s
          end
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value.empty? ? "none" : value.join(", ")
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "PATH"
        end
      end
    end
  end
end
