# frozen_string_literal: true

require "net/http"
require "openssl"
require "uri"
require_relative "../lab_error"

module Carat
  module Lab
    module Load
      # One request before a load: it shows whether the load would measure anything but errors.
      module Trial
        # Seconds without a byte of the response.
        REPLY_TIMEOUT = 60
        FAILURES = [SystemCallError, IOError, Timeout::Error, SocketError, OpenSSL::SSL::SSLError,
                    Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, Net::ProtocolError].freeze
        private_constant :FAILURES

        module_function

        # Raises LabError unless a GET of `url` has a status below 400. The body is not read: it may not end.
        def check(url)
          uri = URI(url)
          status = status_of(uri)
          return if status < 400

          raise LabError, "carat: GET #{uri.request_uri} responds with status #{status}; name a path that works " \
                          "with --path"
        rescue *FAILURES => e
          raise LabError, "carat: #{url} does not respond: #{e.message}; start the server, or name a rackup file"
        end

        def status_of(uri)
          options = { use_ssl: uri.scheme == "https", verify_mode: OpenSSL::SSL::VERIFY_NONE,
                      open_timeout: REPLY_TIMEOUT, read_timeout: REPLY_TIMEOUT }
          http = Net::HTTP.start(uri.hostname, uri.port, nil, **options)
          http.request_get(uri.request_uri, "User-Agent" => "carat") { |response| return Integer(response.code, 10) }
        ensure
          http&.finish
        end
        private_class_method :status_of
      end
    end
  end
end
