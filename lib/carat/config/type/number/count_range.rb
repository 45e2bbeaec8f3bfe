# frozen_string_literal: true

require_relative "../../config_error"

module Carat
  module Config
    module Type
      # A number of processes: fixed, or a range within which the number follows the load.
      class CountRange
        PATTERN = /\A(\d+)(?:\.\.(\d+))?\z/
        private_constant :PATTERN

        # `within` is a Range of the numbers that are allowed.
        def initialize(within)
          @within = within
        end

        # Reads an Integer, a Range of them, or text such as "2" and "1..8"; returns a Range. Raises InvalidValue.
        def parse(value)
          range = value.is_a?(Range) && !value.exclude_end? ? value : read(value.to_s)
          return range if range && whole?(range)

          raise InvalidValue, "#{value.inspect} is not a number of #{noun} up to #{@within.end}, #{examples}"
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          value.begin == value.end ? value.begin.to_s : value.to_s
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "N|N..M"
        end

        private

        def noun
          "processes"
        end

        def examples
          "such as 2 or 1..3"
        end

        def read(text)
          match = PATTERN.match(text)
          Range.new(Integer(match[1], 10), Integer(match[2] || match[1], 10)) if match
        end

        def whole?(range)
          [range.begin, range.end].all?(Integer) && range.begin <= range.end && @within.cover?(range)
        end
      end
    end
  end
end
