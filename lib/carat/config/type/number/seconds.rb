# frozen_string_literal: true

require_relative "../../config_error"
require_relative "../rule"

module Carat
  module Config
    module Type
      # A duration in seconds.
      class Seconds
        UNITS = { "ms" => 0.001, "" => 1, "s" => 1, "m" => 60, "h" => 3600, "d" => 86_400 }.freeze
        PATTERN = /\A(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|)\z/

        # The longest duration: a year.
        LIMIT = 365 * 86_400.0
        EXAMPLES = 'such as 30, 2.5, "30s", "5m" or "500ms"'
        private_constant :EXAMPLES, :PATTERN, :UNITS

        # Reads an Integer or Float of seconds, or text such as "30s", "5m" and "500ms", up to a year;
        # returns a Float and raises InvalidValue.
        def parse(value)
          seconds = value.is_a?(Numeric) && value.real? ? value.to_f : count(value.to_s)
          return seconds if seconds && !seconds.nan? && (Float::MIN..LIMIT).cover?(seconds)

          raise InvalidValue, "#{value.inspect} is not a time above 0 and up to a year, #{EXAMPLES}"
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          "#{value.to_s.delete_suffix(".0")} s"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "SECONDS"
        end

        private

        def count(text)
          match = PATTERN.match(text)
          match[1].to_f * UNITS.fetch(match[2]) if match
        end

        # A time limit: what Seconds reads, or "off", false or nil for no limit.
        TIMEOUT = Rule.new("SECONDS|off", text: ->(value) { value ? new.text(value) : "off" }) do |value|
          !value || value.to_s == "off" ? nil : new.parse(value)
        rescue InvalidValue => e
          raise InvalidValue, "#{e.message}, or \"off\""
        end
      end
    end
  end
end
