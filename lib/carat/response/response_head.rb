# frozen_string_literal: true

require_relative "../native"
require_relative "header_list"

module Carat
  module Response
    # The status and the headers of a response, as the application returned them.
    class ResponseHead
      SWITCHING_PROTOCOLS = 101
      private_constant :SWITCHING_PROTOCOLS

      def initialize(status, headers)
        @status = status
        @headers = headers
      end

      # Yields the status and the headers as they are. If the block returns false, yields them again as an Integer and a
      # flat Array of Strings. Raises Native::InvalidResponse.
      def offer
        yield(@status, @headers) || yield(status, HeaderList.flatten(@headers)) ||
          raise(Native::InvalidResponse, "the headers have a name without a value")
      end

      # Whether a response with this status has no body (RFC 9110, sections 6.4.1 and 15.3.6).
      def bodiless?
        [204, 205, 304].include?(status)
      end

      # Returns the callable that takes over the connection after these headers (a partial hijack), or nil.
      def hijack
        server_value("rack.hijack")
      end

      # Whether the connection switches to another protocol. In Rack 3.1, the application names the protocol in a
      # header, and the server sets the status.
      def switches?
        @status == SWITCHING_PROTOCOLS || !protocol.nil?
      end

      # Returns a copy that switches the connection to the protocol.
      def switching
        return self unless protocol

        headers = HeaderList.flatten(@headers)
        ResponseHead.new(SWITCHING_PROTOCOLS, [*headers, "upgrade", protocol, "connection", "upgrade"])
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

      def protocol
        server_value("rack.protocol")&.to_s if @status == 200 || @status == SWITCHING_PROTOCOLS
      end

      # The value of a header that is meant for the server, or nil. Headers that are no Hash may be any object with
      # `each`.
      def server_value(name)
        return @headers[name] if @headers.is_a?(Hash)

        @headers.each { |key, value| return value if key == name } if @headers.respond_to?(:each)
        nil
      end

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
