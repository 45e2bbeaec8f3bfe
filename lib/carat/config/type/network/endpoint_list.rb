# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "address"
require_relative "address_list"

module Carat
  module Config
    module Type
      # The addresses of the server's own pages, none by default: `tcp://HOST:PORT` without parameters.
      class EndpointList < AddressList
        PLAIN = %r{\Atcp://[^?]+\z}
        private_constant :PLAIN

        # Reads one address or an Array of them and returns an Array of Strings; raises InvalidValue.
        def parse(value)
          addresses = Array(value).map { |text| Address.parse(text) }
          other = addresses.grep_v(PLAIN).first
          raise InvalidValue, "#{other.inspect} is not tcp://HOST:PORT" if other

          addresses
        end
      end
    end
  end
end
