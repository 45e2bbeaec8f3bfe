# frozen_string_literal: true

module Carat
  module Log
    # A number with its noun, for a sentence.
    module Counted
      module_function

      # Returns `1 worker`, `2 workers`, or `0 workers`; `noun` takes an s in the plural.
      def of(number, noun)
        "#{number} #{noun}#{"s" unless number == 1}"
      end
    end
  end
end
