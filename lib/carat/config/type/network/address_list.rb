# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "address"

module Carat
  module Config
    module Type
      # The addresses to listen on, at least one.
      class AddressList
        # Reads one address or an Array of them and returns an Array of Strings; raises InvalidValue.
        def parse(value)
          addresses = Array(value).map { |text| Address.parse(text) }
          raise InvalidValue, "no address is given; write #{Address::FORMS}" if addresses.empty?

          addresses
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value.join(", ")
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "ADDRESS"
        end
      end
    end
  end
end
