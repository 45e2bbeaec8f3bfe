# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "seconds"

module Carat
  module Config
    module Type
      # A duration after which something ends, or never.
      class Timeout
        OFF = "off"
        private_constant :OFF

        def initialize
          @seconds = Seconds.new
        end

        # Reads a duration as Seconds does, or "off", false or nil, which stand for no limit; returns a Float or nil.
        # Raises InvalidValue.
        def parse(value)
          !value || value.to_s == OFF ? nil : @seconds.parse(value)
        rescue InvalidValue => e
          raise InvalidValue, "#{e.message}, or #{OFF.inspect}"
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value ? @seconds.text(value) : OFF
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "SECONDS|#{OFF}"
        end
      end
    end
  end
end
