# frozen_string_literal: true

require_relative "../../config_error"
require_relative "byte_count"

module Carat
  module Config
    module Type
      # An amount of memory: a share of the memory that is available, or a number of bytes.
      class MemoryBudget
        SHARE = /\A(\d+(?:\.\d+)?)\s*%\z/
        EXAMPLES = 'such as "80%" or "512MB"'
        private_constant :EXAMPLES, :SHARE

        # `range` limits an amount in bytes; a share is from 0.1 to 100 %.
        def initialize(range = (1..))
          @bytes = ByteCount.new(range)
          @bounds = "from #{@bytes.text(range.begin)} to #{@bytes.text(range.end || ByteCount::LIMIT)}"
        end

        # Reads a share such as "80%", or a size that ByteCount reads. Returns a String such as "80%", or an Integer of
        # bytes. Raises InvalidValue.
        def parse(value)
          match = SHARE.match(value.to_s)
          return "#{match[1]}%" if match && (0.1..100).cover?(match[1].to_f)
          return @bytes.parse(value) unless match

          raise InvalidValue, value.inspect
        rescue InvalidValue
          raise InvalidValue, "#{value.inspect} is not an amount of memory #{@bounds}, #{EXAMPLES}"
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          value.is_a?(Integer) ? @bytes.text(value) : value
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "BYTES|SHARE%"
        end
      end
    end
  end
end
