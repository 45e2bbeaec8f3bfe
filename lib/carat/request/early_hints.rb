# frozen_string_literal: true

require_relative "../response/header_list"

module Carat
  module Request
    # The `rack.early_hints` of one request: sends a 103 response (RFC 8297) while the application works on its own
    # response.
    class EarlyHints
      # `native` is the Native::Slot of the request.
      def initialize(native)
        @native = native
        @id = native.id
      end

      # Sends header fields at once: a Hash of names and values. A value is a String, which may contain several values
      # separated by line breaks, or an Array of Strings. Does nothing once the response has begun.
      def call(headers)
        @native.hint(@id, headers) || @native.hint(@id, Response::HeaderList.flatten(headers))
        nil
      end
    end
  end
end
