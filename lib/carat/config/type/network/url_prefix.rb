# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # The beginning of the paths of all requests, such as `/app`; nil for `/`.
      class UrlPrefix
        include AsWritten

        PATTERN = %r{\A(?:/(?!\.\.?(?:/|\z))[\w.~!$&'()*+,;=:@-]+)+\z}
        private_constant :PATTERN

        # Reads a path, with or without a slash at its end; raises InvalidValue.
        def parse(value)
          prefix = value.to_s.delete_suffix("/")
          return prefix.empty? ? nil : prefix if prefix.empty? ? value == "/" : PATTERN.match?(prefix)

          raise InvalidValue, "#{value.inspect} is not the beginning of a path such as /app"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "PATH"
        end
      end
    end
  end
end
