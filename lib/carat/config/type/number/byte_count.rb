# frozen_string_literal: true

require_relative "../../config_error"

module Carat
  module Config
    module Type
      # A number of bytes. Units are powers of 1024, whether written KB or KiB.
      class ByteCount
        UNITS = { "" => 1, "k" => 1024, "m" => 1024**2, "g" => 1024**3, "t" => 1024**4 }.freeze
        PATTERN = /\A(\d+(?:\.\d+(?=\s*[kmgt]))?)\s*([kmgt]?)(?:i?b)?\z/i
        EXAMPLES = 'such as 65536, "64KB" or "1GB"'
        private_constant :EXAMPLES, :PATTERN, :UNITS

        # The largest number of bytes, far more than any machine has. The edge uses 64-bit numbers.
        LIMIT = 1024**5

        # `range` limits the number; LIMIT ends an endless one.
        def initialize(range = (1..))
          @range = range.begin..(range.end || LIMIT)
        end

        # Reads an Integer, or text such as "64KB", "64KiB" and "1GB"; raises InvalidValue.
        def parse(value)
          bytes = value.is_a?(Integer) ? value : count(value.to_s)
          return bytes if bytes && @range.cover?(bytes)
          raise InvalidValue, "#{value} is not a size: write one, #{EXAMPLES}" if [true, false].include?(value)

          raise InvalidValue, "#{value.inspect} is not a number of bytes from #{@range.begin} to " \
                              "#{text(@range.end)}, #{EXAMPLES}"
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          unit = UNITS.keys.reverse.find { |name| (value % UNITS[name]).zero? && value >= UNITS[name] } || ""
          unit.empty? ? "#{value} B" : "#{value / UNITS[unit]} #{unit.upcase}iB"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "BYTES"
        end

        private

        def count(text)
          match = PATTERN.match(text)
          (match[1].to_r * UNITS.fetch(match[2].downcase)).to_i if match
        end
      end
    end
  end
end
