# frozen_string_literal: true

require "json"
require "openssl"
require_relative "account_key"

module Carat
  module ACME
    # The account that a customer has at the authority, to which the account of the server is bound (RFC 8555, section
    # 7.3.4).
    class ExternalAccount
      # `kid` is the identifier of the account, and `key` its MAC key in base64 for URLs, as the authority gives them.
      def initialize(kid, key)
        @kid = kid
        @key = key.tr("-_", "+/").unpack1("m")
      end

      # Returns the binding, a Hash for JSON. `jwk` is the public key of the server's account, and `url` the address at
      # which the account is made.
      def binding_of(jwk, url)
        protected, payload = [{ alg: "HS256", kid: @kid, url: url }, jwk].map do |part|
          AccountKey.base64(JSON.generate(part))
        end
        signature = OpenSSL::HMAC.digest("SHA256", @key, "#{protected}.#{payload}")
        { protected:, payload:, signature: AccountKey.base64(signature) }
      end
    end
  end
end
