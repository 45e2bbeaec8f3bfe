# frozen_string_literal: true

module Carat
  module Config
    module Type
      # For types whose parsed values are what readers see.
      module AsWritten
        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value
        end
      end
    end
  end
end
