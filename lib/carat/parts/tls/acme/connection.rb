# frozen_string_literal: true

require "net/http"
require "openssl"
require "time"
require "timeout"
require "uri"
require_relative "../../../version"
require_relative "acme_error"

module Carat
  module ACME
    # HTTP requests to the authority, each with a time limit and a size limit for the response.
    class Connection
      # One response: its status, header fields, and body.
      Answer = Struct.new(:status, :header, :body) do
        # Returns how many seconds the authority asks to wait, at most a day; 0 when it says nothing.
        def retry_after
          text = header["retry-after"].to_s
          seconds = text.match?(/\A\d{1,9}\z/) ? text.to_i : Time.httpdate(text) - Time.now
          seconds.clamp(0, 86_400).ceil
        rescue ArgumentError
          0
        end
      end

      # The most bytes of a response up to the end of its header fields.
      HEAD_LIMIT = 64 * 1024
      # The most bytes of a response in all.
      RESPONSE_LIMIT = 256 * 1024
      # The seconds for one step: connecting, the handshake, a read, or a write.
      STEP_SECONDS = 10
      # The seconds for a request and its response.
      TOTAL_SECONDS = 30
      TYPE = "application/jose+json"
      FAILURES = [SystemCallError, SocketError, IOError, OpenSSL::SSL::SSLError, OpenSSL::X509::StoreError,
                  Timeout::Error, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, Net::ProtocolError].freeze
      private_constant :HEAD_LIMIT, :RESPONSE_LIMIT, :FAILURES, :STEP_SECONDS, :TOTAL_SECONDS, :TYPE

      # Limits the bytes that are read from a socket. Net::HTTP limits the time of a read, but neither the length of a
      # line nor the number of header fields, of lines between chunks, and of interim responses.
      module BoundedReads
        # The number of bytes beyond which reads fail.
        attr_writer :limit

        # Reads as the socket does. Raises ACMEError beyond the limit.
        def read_nonblock(*, **)
          super.tap do |piece|
            @count = @count.to_i + (piece.is_a?(String) ? piece.bytesize : 0)
            raise ACMEError, "the response is larger than #{@limit / 1024} KiB" if @count > @limit
          end
        end
      end

      # An HTTP client whose socket has BoundedReads.
      class BoundedHTTP < Net::HTTP
        # Sets the limit of the socket in bytes.
        def limit=(bytes)
          @socket.io.limit = bytes
        end

        private

        def connect
          super
          @socket.io.extend(BoundedReads)
        end
      end
      private_constant :BoundedReads, :BoundedHTTP

      # `authorities` is the path of the certificates that may sign the authority's own certificate, or nil for those of
      # the system.
      def initialize(authorities: nil, total: TOTAL_SECONDS)
        @options = { use_ssl: true, ca_file: authorities, open_timeout: STEP_SECONDS, read_timeout: STEP_SECONDS,
                     write_timeout: STEP_SECONDS, ssl_timeout: STEP_SECONDS, max_retries: 0 }.compact
        @total = total
      end

      # Returns the Answer to a GET. Raises ACMEError.
      def get(url)
        call(url) { |uri| Net::HTTP::Get.new(uri) }
      end

      # Returns the Answer to a HEAD. Raises ACMEError.
      def head(url)
        call(url) { |uri| Net::HTTP::Head.new(uri) }
      end

      # Returns the Answer to a POST of `body`, a signed message. Raises ACMEError.
      def post(url, body)
        call(url) { |uri| Net::HTTP::Post.new(uri, "Content-Type" => TYPE).tap { |post| post.body = body } }
      end

      private

      def call(url)
        uri = parse(url)
        request = yield uri
        request["User-Agent"] = "carat/#{VERSION}"
        # No content coding, so that a small response cannot become a large one.
        request["Accept-Encoding"] = "identity"
        Timeout.timeout(@total) { exchange(uri, request) }
      rescue *FAILURES => e
        raise ACMEError, "#{uri&.host}: #{e.is_a?(Timeout::Error) ? "no response in time" : e.message}"
      end

      def parse(url)
        uri = URI.parse(url.to_s)
        return uri if uri.is_a?(URI::HTTPS) && !uri.host.to_s.empty?

        raise ACMEError, "the authority names #{url.inspect}, which is not an https URL"
      rescue URI::InvalidURIError
        raise ACMEError, "the authority names #{url.inspect}, which is not a URL"
      end

      def exchange(uri, request)
        BoundedHTTP.start(uri.hostname, uri.port, **@options) do |http|
          http.limit = HEAD_LIMIT
          response = http.request(request) { http.limit = RESPONSE_LIMIT }
          Answer.new(response.code.to_i, response, response.body.to_s)
        end
      rescue ACMEError => e
        raise ACMEError, "#{uri.host}: #{e.message}"
      end
    end
  end
end
