# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # The address of an OpenTelemetry collector, and the share of the requests that it gets:
      # `http://127.0.0.1:4318?sample=0.1`.
      class CollectorURL
        PATTERN = %r{\Ahttp://(?:(?<host>[\w.-]{1,253})|\[(?<host>\h*:[\h:.]+)\]):(?<port>\d{1,5})
                     (?<path>(?:/[\w.~-]+)*)/?(?:\?sample=(?<sample>\d(?:\.\d{1,9})?))?\z}x
        private_constant :PATTERN

        # Reads a String and returns a Hash for the edge; raises InvalidValue.
        def parse(value)
          url = PATTERN.match(value.to_s)
          port = url ? url[:port].to_i : 0
          raise InvalidValue, "#{value.inspect} is not http://HOST:PORT" unless port.between?(1, 65_535)

          sample = (url[:sample] || 1).to_f
          raise InvalidValue, "#{value.inspect}: sample is a share from 0 to 1" unless sample <= 1

          { host: url[:host], port:, path: url[:path], sample: }
        end

        # Returns the value for readers.
        def text(value)
          host = value[:host].include?(":") ? "[#{value[:host]}]" : value[:host]
          "http://#{host}:#{value[:port]}#{value[:path]}?sample=#{value[:sample]}"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "URL"
        end
      end
    end
  end
end
