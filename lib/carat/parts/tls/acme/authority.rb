# frozen_string_literal: true

require "json"
require_relative "account_key"
require_relative "acme_error"

module Carat
  module ACME
    # The authority that issues certificates, with the account of this server (RFC 8555). Requests are signed, and each
    # has a nonce.
    class Authority
      # A resource of the authority: its JSON, its URL, the seconds to wait before it is read again, and the text of the
      # body.
      Resource = Struct.new(:json, :url, :retry_after, :text)

      # The most nonces in a row that may be refused. A nonce expires whenever the authority likes; the refusal contains
      # the next one.
      NONCE_LIMIT = 10
      BAD_NONCE = "urn:ietf:params:acme:error:badNonce"
      private_constant :BAD_NONCE, :NONCE_LIMIT

      # Returns the AccountKey.
      attr_reader :key

      # `url` is the URL of the authority's directory; `contact` is a mail address, or nil; `external` is the
      # ExternalAccount to which the account is bound, or nil.
      def initialize(url, key:, connection:, contact: nil, external: nil)
        @url = url
        @key = key
        @connection = connection
        @contact = contact
        @external = external
      end

      # Returns the Resource of a new order for a certificate for `name`.
      def order(name)
        post(address("newOrder"), { identifiers: [{ type: "dns", value: name }] })
      end

      # Returns the Resource at a URL.
      def get(url)
        post(url, nil)
      end

      # Sends a Hash; with nil, reads the resource. Returns the Resource. Raises ACMEError.
      def post(url, payload)
        signed(url, payload) { { kid: account } }
      end

      private

      # Returns the URL of the account, and creates the account if there is none. Its terms of service are agreed to:
      # whoever sets `acme=` does so (docs/tls.md).
      def account
        @account ||= begin
          account = signed(address("newAccount"), account_request) { { jwk: @key.to_jwk } }
          account.url || raise(ACMEError, "the authority does not say what the account is called")
        end
      end

      def account_request
        external = @external&.binding_of(@key.to_jwk, address("newAccount"))
        { termsOfServiceAgreed: true, contact: (["mailto:#{@contact}"] if @contact),
          externalAccountBinding: external }.compact
      end

      def signed(url, payload)
        identity = yield
        NONCE_LIMIT.times do
          message = @key.sign({ **identity, nonce: nonce, url: url }, payload ? JSON.generate(payload) : "")
          answer = @connection.post(url, message)
          @nonce = answer.header["replay-nonce"]
          return resource(answer) if (200..299).cover?(answer.status)

          problem = problem(answer)
          raise failure(answer, problem) unless problem["type"] == BAD_NONCE
        end
        raise ACMEError, "the authority refused #{NONCE_LIMIT} nonces in a row"
      end

      def nonce
        nonce = @nonce || @connection.head(address("newNonce")).header["replay-nonce"]
        @nonce = nil
        nonce || raise(ACMEError, "the authority gave no nonce")
      end

      def resource(answer)
        pem = answer.header["content-type"].to_s.start_with?("application/pem-certificate-chain")
        Resource.new(pem ? {} : parse(answer.body), answer.header["location"], answer.retry_after, answer.body)
      end

      def problem(answer)
        parse(answer.body)
      rescue ACMEError
        {}
      end

      def failure(answer, problem)
        detail = problem["detail"] || "no reason"
        ACMEError.new("the authority answered #{answer.status}: #{detail}", retry_after: answer.retry_after)
      end

      def address(name)
        @directory ||= directory
        @directory[name] || raise(ACMEError, "#{@url} does not name #{name}: it is not the directory of an authority")
      end

      def directory
        answer = @connection.get(@url)
        raise failure(answer, problem(answer)) unless answer.status == 200

        parse(answer.body)
      end

      def parse(text)
        json = JSON.parse(text)
        json.is_a?(Hash) ? json : raise(ACMEError, "the authority's response is not an object")
      rescue JSON::ParserError, EncodingError
        raise ACMEError, "the authority's response is not JSON"
      end
    end
  end
end
