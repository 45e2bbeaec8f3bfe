# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # How many workers there are: a number, a range within which the load decides, or what fits the machine.
      class WorkerCount
        AUTO = "auto"
        PATTERN = /\A(\d+)(?:\.\.(\d+))?\z/
        LIMIT = 10_000
        EXAMPLES = 'such as 2, 1..8 or "auto"'

        # Reads an Integer, a Range of them, or text such as "2", "1..8" and "auto"; returns a Range or "auto". Raises
        # InvalidValue.
        def parse(value)
          return AUTO if value.to_s == AUTO

          range = value.is_a?(Range) && !value.exclude_end? ? value : read(value.to_s)
          return range if range && whole?(range)

          raise InvalidValue, "#{value.inspect} is not a number of workers up to #{LIMIT}, #{EXAMPLES}"
        end

        def text(value)
          value == AUTO || value.begin != value.end ? value.to_s : value.begin.to_s
        end

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
