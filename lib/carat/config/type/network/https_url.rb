# frozen_string_literal: true

require "uri"
require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # The address of a server that is asked over https.
      class HttpsURL
        include AsWritten

        # Reads a String; raises InvalidValue.
        def parse(value)
          uri = URI.parse(value.to_s)
          return uri.to_s if uri.is_a?(URI::HTTPS) && uri.host&.match?(/\A[\w.-]+\z/) && !uri.userinfo

          raise InvalidValue, "#{value.inspect} is not https://HOST/PATH"
        rescue URI::InvalidURIError
          raise InvalidValue, "#{value.inspect} is not a URL"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "URL"
        end
      end
    end
  end
end
