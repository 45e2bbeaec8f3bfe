# frozen_string_literal: true

require_relative "../../invalid_value"

module Carat
  module Config
    module Type
      # Networks in CIDR notation, such as `10.0.0.0/8`; the list may be empty.
      class NetworkList
        NONE = "none"
        PATTERN = %r{\A[\h.:]+(?:/\d{1,3})?\z}
        private_constant :NONE, :PATTERN

        # Reads one network, an Array of them or "none", and returns an Array of Strings; raises InvalidValue.
        def parse(value)
          return [] if value.to_s == NONE

          Array(value).each { |network| refuse(network) unless network?(network) }
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value.empty? ? NONE : value.join(", ")
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "NETWORK"
        end

        private

        def network?(text)
          require "ipaddr"
          text.is_a?(String) && PATTERN.match?(text) && !IPAddr.new(text).nil?
        rescue IPAddr::Error
          false
        end

        def refuse(value)
          raise InvalidValue, "#{value.inspect} is not a network such as 10.0.0.0/8 or fd00::/8, nor an address"
        end
      end
    end
  end
end
