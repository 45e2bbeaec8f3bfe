# frozen_string_literal: true

require_relative "../native"
require_relative "header_list"

module Carat
  module Response
    # The status and the headers of a response, as the application returned them.
    class ResponseHead
      def initialize(status, headers)
        @status = status
        @headers = headers
      end

      # Yields the status and the headers as they are; if the block returns false, yields them again as an Integer and a
      # flat Array of Strings. Raises Native::InvalidResponse.
      def offer
        yield(@status, @headers) || yield(status, HeaderList.flatten(@headers)) ||
          raise(Native::InvalidResponse, "the headers have a name without a value")
      end

      # Whether this status has no body (RFC 9110, sections 6.4.1 and 15.3.6).
      def bodiless?
        [204, 205, 304].include?(status)
      end

      # Returns a copy with a Content-Length in bytes.
      def with_length(bytes)
        ResponseHead.new(@status, [*HeaderList.flatten(@headers), "content-length", bytes.to_s])
      end

      # Returns the declared length of the body in bytes, or nil.
      def content_length
        return unless @headers.respond_to?(:each)

        @headers.each { |name, value| return Integer(value.to_s, 10, exception: false) if length?(name) }
        nil
      end

      private

      def status
        return @status if @status.is_a?(Integer)
        raise Native::InvalidResponse, "the status is #{@status.class}, without to_i" unless @status.respond_to?(:to_i)

        @status.to_i
      end

      def length?(name)
        name.is_a?(String) && name.casecmp?("content-length")
      end
    end
  end
end
