# frozen_string_literal: true

require_relative "../../config_error"

module Carat
  module Config
    module Type
      # When a worker becomes the next mold: after certain numbers of requests, or as soon as measurements show that it
      # pays, or never.
      class ReforkRule
        WORDS = %w[auto off].freeze
        LIST = /\A\d+(?:\s*,\s*\d+)*\z/
        COUNTS = (1..1_000_000_000)
        EXAMPLES = 'such as "auto", "off" or after: [1000, 10_000]'
        private_constant :COUNTS, :EXAMPLES, :LIST, :WORDS

        # Reads one of WORDS (false means "off"), or numbers of requests: as `{ after: [1000, 10_000] }`, an Array, or
        # text such as "1000,10000". Returns the word, or an Array of Integers. Raises InvalidValue.
        def parse(value)
          return "off" if value == false
          return value.to_s if WORDS.include?(value.to_s)

          counts = read(value)
          return counts if counts&.any? && counts.all? { |count| count.is_a?(Integer) && COUNTS.cover?(count) }

          raise InvalidValue, "#{value.inspect} is not a rule for reforks, #{EXAMPLES}"
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          value.is_a?(Array) ? value.join(",") : value
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "#{WORDS.join("|")}|N,N"
        end

        private

        def read(value)
          return read(value.fetch(:after)) if value.is_a?(Hash) && value.keys == [:after]
          return [value] if value.is_a?(Integer)
          return value.split(",").map { |text| Integer(text, 10) } if value.is_a?(String) && LIST.match?(value)

          value if value.is_a?(Array)
        end
      end
    end
  end
end
