# frozen_string_literal: true

require_relative "../native"

module Carat
  module Response
    # Converts the headers of a response to a flat Array of Strings: name, value, name, value.
    module HeaderList
      module_function

      # Returns the Array. Raises Native::InvalidResponse when `headers` cannot be iterated.
      def flatten(headers)
        unless headers.respond_to?(:each)
          raise Native::InvalidResponse, "the headers are #{headers.class}, without each"
        end

        list = []
        headers.each { |name, value| add(list, name.to_s, value) }
        list
      end

      def add(list, name, value)
        # A header for the server, which is not sent, and may have any value.
        return if name.start_with?("rack.")

        (value.is_a?(Array) ? value : [value]).each { |single| list << name << single.to_s }
      end

      private_class_method :add
    end
  end
end
