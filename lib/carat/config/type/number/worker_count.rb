# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # The number of workers: fixed, a range that follows the load, or what the machine has room for.
      class WorkerCount
        # The value that leaves the number to Carat.
        AUTO = "auto"
        PATTERN = /\A(\d+)(?:\.\.(\d+))?\z/

        # The largest number.
        LIMIT = 10_000
        EXAMPLES = 'such as 2, 1..8 or "auto"'
        # Puma forks no worker then, and serves with the process that has loaded the application.
        SINGLE = "; for Puma's single mode write 1"
        private_constant :EXAMPLES, :PATTERN, :SINGLE

        # Reads an Integer, a Range of them, or text such as "2", "1..8" and "auto"; returns a Range or "auto". Raises
        # InvalidValue.
        def parse(value)
          return AUTO if value.to_s == AUTO

          range = value.is_a?(Range) && !value.exclude_end? ? value : read(value.to_s)
          return range if range && whole?(range)

          hint = SINGLE if value.to_s == "0"
          raise InvalidValue, "#{value.inspect} is not a number of workers up to #{LIMIT}, #{EXAMPLES}#{hint}"
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value == AUTO || value.begin != value.end ? value.to_s : value.begin.to_s
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "N|N..M|#{AUTO}"
        end

        private

        def read(text)
          match = PATTERN.match(text)
          Range.new(Integer(match[1], 10), Integer(match[2] || match[1], 10)) if match
        end

        def whole?(range)
          [range.begin, range.end].all?(Integer) && range.begin.positive? && (range.begin..LIMIT).cover?(range.end)
        end
      end
    end
  end
end
