# frozen_string_literal: true

require_relative "../native"

module Carat
  module Response
    # The headers of an answer as a flat Array of Strings, names and values in turn, whatever they were before.
    module HeaderList
      module_function

      # Raises Native::InvalidResponse.
      def flatten(headers)
        return headers.each_with_object([]) { |(name, value), list| add(list, name.to_s, value) } if headers.is_a?(Hash)

        raise Native::InvalidResponse,
              "the headers are #{headers.class}, without each" unless headers.respond_to?(:each)

        list = []
        headers.each { |name, value| add(list, name.to_s, value) }
        list
      end

      def add(list, name, value)
        # Those are for the server, and may be anything.
        return if name.start_with?("rack.")

        (value.is_a?(Array) ? value : [value]).each { |single| list << name << single.to_s }
      end
    end
  end
end
