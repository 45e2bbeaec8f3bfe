# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # The path of a file that may come and go, or none. A relative path stays relative: links on the way to it may
      # change.
      class OptionalPath
        OFF = "off"
        private_constant :OFF

        # Reads a path (String or Pathname), or "off", false or nil, which stand for none; returns a String or nil.
        # Raises InvalidValue.
        def parse(value)
          return if !value || value.to_s == OFF

          Type.absolute_path(value) # Raises if it is not a path.
          value.to_s
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value || OFF
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "FILE|#{OFF}"
        end
      end
    end
  end
end
